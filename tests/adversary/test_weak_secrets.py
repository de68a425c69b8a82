"""Attacker: knows the corpus, reads the ids of released rows, and tries the secrets that people choose.

One secret that gives one id right gives every draw of the run.
"""

from __future__ import annotations

import math

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

from sottovoce.models.randomness import Secret

pytestmark = pytest.mark.slow
RECORDS = dialogues(6)
CHOSEN = b"correct horse battery staple"


def candidates() -> list[bytes]:
    constants = [bytes([value]) * length for value in range(256) for length in (16, 32, 64)]
    counts = [bytes(range(length)) for length in (16, 32, 64)]
    words = [b"password", b"secret", b"changeme", b"sottovoce", CHOSEN, b"0123456789abcdef"]
    return constants + counts + [word * times + end for word in words for times in (1, 2, 4) for end in (b"", b"\n")]


def attack(released: Released, corpus: list[dict]) -> set[bytes]:
    """The secrets under which a known dialogue has the alias, or a known line the id, that was released."""
    ids = {row["id"] for sink in ("stt_lm", "slu", "dm") for row in released.rows(sink)}
    parts = [("dialogue alias", record["dialogue_id"]) for record in corpus]
    parts += [
        (purpose, record["dialogue_id"], record["id"])
        for record in corpus
        for purpose in ("slu example", "text line", "origin")
    ]
    return {value for value in candidates() if any(Secret(value).token(*own) in ids for own in parts)}


def operator_with(tmp_path, secret: bytes) -> Operator:
    return Operator(tmp_path, secret)


@pytest.mark.parametrize("secret", [bytes(32), bytes(range(32)), CHOSEN], ids=["constant", "count", "words"])
def test_a_secret_that_people_choose_is_found(tmp_path, secret):
    with weakened(
        "the estimate of a secret's strength",
        {"sottovoce.pipelines.sanitize.secret_file:estimated_bits": lambda _: math.inf},
    ):
        released = operator_with(tmp_path, secret).release(RECORDS, "--set", "sinks={dm: 1}")
    assert secret in as_outsider(attack, released, RECORDS)


@pytest.mark.parametrize("secret", [bytes(32), bytes(range(32)), CHOSEN], ids=["constant", "count", "words"])
def test_no_run_begins_with_such_a_secret(tmp_path, secret):
    operator = operator_with(tmp_path, secret)
    done = operator.run(RECORDS, "--set", "sinks={dm: 1}", check=False)
    assert done.returncode == 2 and "can be guessed" in done.stderr and not operator.out("out").exists()


def test_a_secret_that_a_machine_drew_is_not_found(tmp_path):
    released = Operator(tmp_path).release(RECORDS, "--set", "sinks={dm: 1}")
    assert released.rows("dm") and not as_outsider(attack, released, RECORDS)
