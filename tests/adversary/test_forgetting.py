"""Attacker: one has the released folder after `sottovoce forget`; one also has a copy from before, and the receipt.

The first must not learn that the person had anything to do with the run: how much of it was theirs, in which sink, at
which place. What it sees is compared between two worlds in which everybody else says the same. The second learns which
records went, by comparing: that cannot be helped once a copy was handed on, and docs/forget.md says so; the receipt and
the commits must not add who it was, nor that two runs have lost the same person.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened
from whole_runs import sottovoce

pytestmark = pytest.mark.slow

WHO = "erika mustermann"
OTHERS = dialogues(
    24, say=lambda dialogue, turn: f"call {('alice', 'bob')[dialogue % 2]} about order {dialogue} {turn}"
)
FIXED = hashlib.sha256(b"of these worlds").digest()  # the same coins in all worlds: what differs is the person's doing


def said_by_them(turns: int) -> list[dict[str, Any]]:
    """Turns in dialogues of other people, and one dialogue of their own."""
    return [
        {
            "id": f"theirs-{number}",
            "dialogue_id": "their own" if number % 4 == 0 else f"dialogue-{number % 24}",
            "speaker_id": WHO,
            "turn": 50 + number,
            "text": f"this is carol and my number is {1000 + number}",
        }
        for number in range(turns)
    ]


def forgotten(folder: Path, turns: int, *, then: bool = True) -> tuple[Operator, Released]:
    """A run on everybody, after which the person is forgotten."""
    folder.mkdir()
    operator = Operator(folder, FIXED)
    operator.run([*OTHERS, *said_by_them(turns)])
    if then:
        forget(operator)
    return operator, operator.hand_over()


def forget(operator: Operator) -> dict[str, Any]:
    places = ("--output", operator.out("out"), "--secret-file", operator.secret_file)
    return json.loads(sottovoce("forget", *places, "--speaker", WHO, "--json").stdout)


def view(released: Released) -> dict[str, Any]:
    """All that is in the folder, but for the name of the run, its days, and the keyed names of erasures, which are random or
    the same for everybody; of the times of files, how many there are."""
    seen: dict[str, Any] = {}
    for path, content in released.files().items():
        name = path.split("/", 1)[1]
        if name.endswith(".json") and name != "croissant.json":
            seen[name] = _without_days_and_names(json.loads(content))
        elif name.endswith((".html", ".md", "croissant.json")):
            seen[name] = re.sub(r"\d{4}-\d\d-\d\d([T ][\d:.+]+Z?( UTC)?)?", "", content.decode()).replace(
                released.run.name, ""
            )
        else:
            seen[name] = content
    return seen | {"ages": len({path.stat().st_mtime_ns for path in released.run.rglob("*.*")})}


def _without_days_and_names(values: dict[str, Any]) -> dict[str, Any]:
    if "files" in values:  # hashes of pages that differ by those
        values["files"] = {path: entry for path, entry in values["files"].items() if path.endswith(".parquet")}
    return values | {"run_id": "", "created": "", "erasures": len(values["erasures"])}


def attack(released: Released) -> int:
    """How many records the folder gives away to be missing: by its counts, its stages, and rows that are not there."""
    commit = json.loads((released.run / "_COMMITTED.json").read_text())
    counts = commit["counts"]
    there = {sink: len(released.rows(sink)) for sink in counts["rows"]}
    turns = sum(len(row["turns"]) for row in released.rows("dm"))
    utterances = sum(there.values()) - there.get("dm", 0) + turns
    listed = {sink: sum(shard["rows"] for shard in commit["shards"] if shard["sink"] == sink) for sink in there}
    missing = [
        counts["read"] - counts["failed"] - utterances,
        counts["stages"]["route"]["passed"] - utterances,
        sum(counts["rows"].values()) - sum(there.values()),
        sum(listed.values()) - sum(there.values()),
    ]
    return max(missing)


def test_counts_that_are_kept_give_away_how_much_is_gone(tmp_path):
    kept = {"sottovoce.pipelines.forget.erased_commit:counts_without": lambda counts, *_: counts}
    with weakened("counts that follow what is left", kept):
        _, released = forgotten(tmp_path / "a", 30)
    assert as_outsider(attack, released) == 30


def test_ours_shows_nothing_missing(tmp_path):
    _, released = forgotten(tmp_path / "a", 30)
    assert as_outsider(attack, released) == 0


@pytest.mark.parametrize(
    "mend", ["counts_without", "at_one_time", None], ids=["without true counts", "without one time", "ours"]
)
def test_what_is_left_is_the_same_whether_they_had_said_much_or_little(mend, tmp_path):
    weak = {
        "counts_without": {"sottovoce.pipelines.forget.erased_commit:counts_without": lambda counts, *_: counts},
        "at_one_time": {"sottovoce.pipelines.forget.erasure_plan:at_one_time": lambda folder: None},
        None: {},
    }[mend]
    with weakened(str(mend), weak):
        worlds = [forgotten(tmp_path / str(turns), turns)[1] for turns in (4, 40)]
    much, little = (as_outsider(view, world) for world in worlds)
    if mend == "at_one_time":
        assert much["ages"] > 1, "the newest files are those they were in"
    elif mend:
        assert much != little
    else:
        assert much == little and much["ages"] == 1


def compare(before: Released, after: Released) -> set[str]:
    """Ids of the records that went, or lost something."""
    rows = [
        {row["id"]: row for sink in ("stt_lm", "slu", "dm") for row in released.rows(sink)}
        for released in (before, after)
    ]
    return {name for name, row in rows[0].items() if rows[1].get(name) != row}


def test_a_copy_from_before_shows_which_records_went_and_no_others(tmp_path):
    """Not to be helped: what was handed on stays where it is. The law is that nothing else moves."""
    operator, before = forgotten(tmp_path / "a", 30, then=False)
    receipt = forget(operator)
    went = as_outsider(compare, before, operator.hand_over())
    untouched = {row["id"] for sink in ("stt_lm", "slu", "dm") for row in before.rows(sink)} - went
    theirs = [row for sink in ("stt_lm", "slu") for row in before.rows(sink) if "my number is" in row["text"]]
    in_dialogues = [row for row in before.rows("dm") if any("my number is" in turn["text"] for turn in row["turns"])]
    assert went == {row["id"] for row in (*theirs, *in_dialogues)} and untouched
    assert receipt["utterances"] == 30


def who_is_it(receipt: dict[str, Any], commits: list[dict[str, Any]], candidates: list[str]) -> set[str]:
    """The candidates whose hash, as far as a hash can be computed without the secret, stands in what was handed over."""
    shown = json.dumps([receipt, commits])
    token = lambda *parts: hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]  # noqa: E731
    found = set()
    for name in candidates:
        speaker = token("charged speaker", name)
        guesses = (speaker, token("erasure", speaker, "and"), token(name), name)
        found |= {name} if any(guess in shown for guess in guesses) else set()
    return found


def public_token(self, purpose: str, *parts: str | int) -> str:
    return hashlib.sha256("\0".join(map(str, (purpose, *parts))).encode()).hexdigest()[:32]


@pytest.mark.parametrize("is_keyed", [False, True], ids=["without a key", "ours"])
def test_the_receipt_names_nobody_to_who_tries_all_names(is_keyed, tmp_path):
    weak = {} if is_keyed else {"sottovoce.models.randomness:Secret.token": public_token}
    with weakened("the key of tokens", weak):
        operator, _ = forgotten(tmp_path / "a", 10, then=False)
        receipt = forget(operator)
    commits = [json.loads((run / "_COMMITTED.json").read_text()) for run in operator.hand_over().runs]
    candidates = [WHO, *{record["speaker_id"] for record in OTHERS}]
    assert as_outsider(who_is_it, receipt, commits, candidates) == (set() if is_keyed else {WHO})


def test_two_runs_do_not_say_that_they_have_lost_the_same_person(tmp_path):
    operator = Operator(tmp_path, FIXED)
    later = [record | {"dialogue_id": f"later {record['dialogue_id']}"} for record in (*OTHERS[:20], *said_by_them(8))]
    operator.run([*OTHERS, *said_by_them(8)])
    operator.run(later, corpus="later")
    forget(operator)
    commits = [json.loads((run / "_COMMITTED.json").read_text()) for run in operator.hand_over().runs]
    assert len(commits) == 2 and all(len(commit["erasures"]) == 1 for commit in commits)
    assert commits[0]["erasures"][0]["receipt"] != commits[1]["erasures"][0]["receipt"]
