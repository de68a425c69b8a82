"""Attacker: has the whole folders of two crowd releases, of a corpus with her and of the same corpus without her.

The texts claim differential privacy for a speaker; so must everything that is handed on beside them. The strongest attacker is
given the noise: both releases share secret and nonce, so that what differs is hers. She says what nobody else says, fails where
nobody fails, has an intent and a slot of her own: then not a byte may differ, but for the name of the run and its time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from adversary import FLAKINESS, Operator, Released, as_outsider, weakened
from scipy.stats import beta, binom
from whole_runs import rows, sottovoce

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.runs.committed_run import open_local
from sottovoce.models.text.replace.private_counts import CountSettings, noisy_count
from sottovoce.models.text.rewrite import Count
from sottovoce.models.text.rewrite.crowd import Crowd
from sottovoce.models.text.rewrite.release import added, release

pytestmark = pytest.mark.slow
JOB = ("--set", "rewrite=crowd", "--set", "sinks={slu: 1}", "--set", "detect=rules")
NONCE = "sottovoce.transforms.engine.job:secrets"
PUBLIC = "sottovoce.pipelines.sanitize.run_folder:handed_on"
REWRITE, TWO_RUNGS = "sottovoce.models.text.rewrite", {"said": 1.0, "full": 1.0}
NAME_AND_TIME = re.compile(rb"run-[0-9a-f]{12}|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\+00:00)?")


def others() -> list[dict]:
    asked = [("what is the news", "news"), ("stop", "stop")]
    return [
        {"id": f"{i}-{n}", "dialogue_id": f"d{i}-{n}", "speaker_id": f"s{i}", "text": text, "intent": intent}
        for i in range(60) for n, (text, intent) in enumerate(asked)
    ]  # fmt: skip


def hers() -> list[dict]:
    said = ("xochiquetzal is at the clinic", "...", "wake me at four")
    slot = {"begin": 0, "end": 12, "name": "patient"}
    return [
        {"id": f"h{n}", "dialogue_id": f"h{n}", "speaker_id": "her", "text": text, "intent": "only_hers",
         "slots": [slot] if n == 0 else []}
        for n, text in enumerate(said)
    ]  # fmt: skip


def two_releases(operator: Operator, **weak) -> list[Released]:
    """The same noise in both: the nonce of an execution is held."""
    held = {NONCE: SimpleNamespace(token_hex=lambda size: "one noise for both")}
    released = []
    for name, records in (("with", others() + hers()), ("without", others())):
        with weakened("noise of its own, and counts that stay", held | weak):
            released.append(operator.release(records, *JOB, out=name, corpus=f"corpus {name}"))
    return released


def attack(with_her: Released, without: Released) -> set[str]:
    """Files that tell the two apart."""
    folders = [
        {
            NAME_AND_TIME.sub(b"-", name.encode()): NAME_AND_TIME.sub(b"-", content)
            for name, content in one.files().items()
        }
        for one in (with_her, without)
    ]
    # a commit lists the sha256 of the others, which hold the name of the run: those are compared themselves
    listed = re.compile(rb'"(sha256|bytes)": "?[0-9a-f]+"?')
    first, second = ({name: listed.sub(b"", content) for name, content in folder.items()} for folder in folders)
    return {name.decode() for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


def test_exact_counts_tell_that_she_is_there(tmp_path):
    """The report, its commit and the card of a run that hands on its counts, as every other run does."""
    theirs = two_releases(Operator(tmp_path), **{PUBLIC: lambda record: record})
    assert any("_COMMITTED" in name for name in as_outsider(attack, *theirs))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    operator = Operator(tmp_path_factory.mktemp("ours"))
    return operator, two_releases(operator)


def test_with_the_noise_held_not_a_byte_is_hers(ours):
    operator, released = ours
    assert as_outsider(attack, *released) == set()
    assert len(released[0].rows("slu")) > 60
    said = "".join(done.stdout + done.stderr for done in operator.said)
    assert "xochiquetzal" not in said and "only_hers" not in said and "patient" not in said


def test_ids_of_rows_tell_neither_order_nor_who(ours):
    """A record belongs to its template and number: the ids of the two releases are the same, whoever else is in the corpus."""
    ids = [[row["id"] for row in released.rows("slu")] for released in ours[1]]
    assert ids[0] == ids[1] and len(ids[0]) == len(set(ids[0]))


def test_the_owner_still_has_every_count(ours):
    operator, _ = ours
    assert "123 records of 123 dialogues read, 1 refused" in operator.said[0].stdout
    (run,) = [path for path in operator.out("with").iterdir() if path.name.startswith("run-")]
    assert [row["reason"] for row in rows(run, "failures")] == ["no_template"]
    assert open_local(str(run)).record["counts"]["read"] == 123


def test_what_was_handed_on_does_not_tell_that_she_was_forgotten(ours):
    operator, (before, _) = ours
    where = ("--output", operator.out("with"), "--secret-file", operator.secret_file)
    assert "utterances are gone" in sottovoce("forget", *where, "--speaker", "her").stdout
    assert operator.hand_over("with").files() == before.files()


def too_likely(seen: Sequence[Counter], epsilon: float, delta: float) -> list[object]:
    """Events that are more than e^epsilon times as likely with her as without her or the other way round, but for delta; as many
    tries of each."""
    events = sorted(set(seen[0]) | set(seen[1]), key=str)
    luck, tries = FLAKINESS / (4 * len(events)), seen[0].total()
    found = []
    for one, other in (seen, seen[::-1]):
        for event in events:
            share = float(beta.ppf(1 - luck, other[event] + 1, tries - other[event])) if other[event] < tries else 1.0
            if binom.sf(one[event] - 1, tries, min(1.0, math.exp(epsilon) * share + delta)) < luck:
                found.append(event)
    return found


def beside_four(spent: CountSettings, tries: int = 4000) -> list[Counter]:
    """She says what four others say: silence, or a released count, over many nonces."""
    secret = Secret(b"a secret of this attack")
    pair = ("full/slu", "what is the news")
    return [Counter(noisy_count(pair, count, spent, secret, str(n)) for n in range(tries)) for count in (4, 5)]


def test_presence_in_a_crowd_moves_the_odds_by_no_more_than_epsilon():
    """Shown first to bite: noise that is made for epsilon 4 does not give 1. Flaky: one in 10^6."""
    assert too_likely(beside_four(CountSettings(4.0, 1e-2, "laplace", 1)), 1.0, 1e-2)
    for noise in ("laplace", "gaussian"):
        assert too_likely(beside_four(CountSettings(1.0, 1e-2, noise, 1)), 1.0, 1e-2) == []


def down_the_ladder(crowds: int, others: int, sentences: int) -> list[Counter]:
    """Without her and with her, who says what `others` say, in crowds that share no word: on which rungs each is released."""
    crowd = Crowd(epsilon=1.0, delta=1e-3, utterances_per_speaker=1, noise="laplace", copies=1, ladder=TWO_RUNGS)
    seen = []
    for here in (0, 1):
        people = [(str(n), f"{n}-{who}") for n in range(crowds) for who in range(others + here)]
        corpus = [
            Utterance(f"{who}-{at}", who, at, f"sentence{at}", Source("f", 1), speaker_id=who, intent=name)
            for name, who in people for at in range(sentences)
        ]  # fmt: skip
        found: dict[str, list[str]] = {name: [] for name, _ in people}
        for one in release(crowd, corpus, "slu", Secret(b"a secret of this attack"), f"{here}")[0]:
            found[one.intent].append(f"{one.source.file} {one.text}")
        seen.append(Counter(str(sorted(rungs)) for rungs in found.values()))
    return seen


@pytest.mark.parametrize(("part", "weak", "crowds"), [
    ("cheap silence", {f"{REWRITE}.crowd:counts_of": lambda ladder, *_: [
        Count(name, CountSettings(1.0, 5e-4, "laplace", 1)) for name in ladder]}, (2500, 8, 1)),
    ("one release of each", {f"{REWRITE}.release:added": lambda own, count, known: added(own, count, ())}, (2500, 7, 1)),
    ("a bound of each speaker", {f"{REWRITE}.release:keep": lambda own, said, limit: own.update([said])}, (1200, 7, 2)),
])  # fmt: skip
def test_a_walk_without_one_part_of_its_proof_tells_of_her(part, weak, crowds):
    with weakened(part, weak):
        assert too_likely(down_the_ladder(*crowds), 1.0, 1e-3)


@pytest.mark.parametrize("crowds", [(2500, 8, 1), (1200, 7, 2)])
def test_the_walk_as_it_runs_tells_what_epsilon_allows(crowds):
    """A few thousand releases. Flaky: one in 10^6."""
    assert too_likely(down_the_ladder(*crowds), 1.0, 1e-3) == []
