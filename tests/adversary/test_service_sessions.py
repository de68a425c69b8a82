"""Attacker: a caller with a token of their own, who knows or guesses the name of somebody else's session.

They ask for surrogates of candidate names under that session's name: were its key theirs, the answer that equals what the
other's text shows would tell the name behind it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from adversary import as_outsider, weakened
from service import serving

from sottovoce.models.randomness import Secret
from sottovoce.pipelines.service.draws import RequestDraws
from sottovoce.pipelines.service.tokens import add_token, read_tokens

SESSION = "support-call-17"
CANDIDATES = [f"call {' and '.join(names)}" for names in itertools.permutations(("alice", "bob", "carol", "dave"))]
SAID = CANDIDATES[17]
Ask = Callable[[str], str]


def attack(ask: Ask, shown: str) -> list[str]:
    """The candidates whose surrogates are those that were shown."""
    return [text for text in CANDIDATES if ask(text) == shown]


def played(tmp_path) -> list[str]:
    file = str(tmp_path / "tokens")
    callers = {name: {"Authorization": f"Bearer {add_token(file, name)}"} for name in ("victim", "attacker")}
    with serving("replace=consistent", tokens=read_tokens(file)) as client:

        def ask(caller: str, text: str) -> str:
            headers = callers[caller] | {"X-Session": SESSION}
            return client.post("/v1/replace", json={"text": text}, headers=headers).json()["text"]

        shown = ask("victim", SAID)
        assert shown == ask("victim", SAID) != SAID
        return as_outsider(attack, lambda text: ask("attacker", text), shown)


def test_a_key_by_the_name_of_the_session_alone_tells_the_name(tmp_path):
    by_name = {
        "sottovoce.pipelines.service.questions:draws_for": lambda secret, caller, session: RequestDraws(
            Secret(secret.digest("session", session))
        )
    }
    with weakened("a key that belongs to the caller", by_name):
        assert played(tmp_path) == [SAID]


def test_the_name_of_a_session_is_worth_nothing_to_another_caller(tmp_path):
    assert played(tmp_path) == []  # four names, each the same by chance once in a hundred at most
