"""Attacker: is shown the audit of a run, as an officer or a customer is, and looks there for words, names and ids of the corpus.

The file joins released records to people while it is made. Won is every name, id, text or row of the corpus or of the
release that stands in it. A build whose failed attacks tell their error in its own words is shown first.
"""

from __future__ import annotations

import pytest
from adversary import Operator, as_outsider, dialogues, weakened
from whole_runs import only_run, private_of, rows

pytestmark = pytest.mark.slow
PEOPLE = 36
CORPUS = [
    record | {"speaker_id": f"person-{int(record['dialogue_id'].split('-')[1]) // 2}"}
    for record in dialogues(2 * PEOPLE, 2, say=lambda dialogue, turn: f"tell alice about lamp{dialogue % 5}")
]
FLAGS = ("--sinks", "slu", "--audit")


def attack(shown: bytes, guesses: list[str]) -> list[str]:
    text = shown.decode()
    return [guess for guess in guesses if guess in text]


def audited(operator: Operator) -> tuple[bytes, list[str]]:
    """(what is shown, what may not be in it)"""
    done = operator.run(CORPUS, *FLAGS, check=False)
    assert "attacked run-" in done.stdout
    run = only_run(operator.out("out"))
    private = private_of(run)
    index = [line for line in rows(run, "index") for line in (line["speaker"], line["dialogue"], line["id"])]
    said = [record[key] for record in CORPUS for key in ("id", "dialogue_id", "speaker_id", "text")]
    released = [row["text"] for sink in ("slu",) for row in rows(run, sink)]
    assert index and released
    shown = b"".join(path.read_bytes() for path in sorted(private.glob("audit.*"))) + done.stdout.encode()
    return shown, sorted({*index, *said, *released, "alice"})


def quoting(self, material):
    raise ValueError(f"no such text: {material.texts[0].text} of {material.texts[0].person}")


BROKEN = {"sottovoce.models.evaluation.audit.by_words:SpeakersByWords.outcomes": quoting}


def test_an_audit_that_tells_errors_in_their_own_words_shows_records(tmp_path):
    plain = {"sottovoce.models.evaluation.audit.judge:told_by_place": str}
    with weakened("errors told by type and place", BROKEN | plain):
        shown, guesses = audited(Operator(tmp_path))
    assert len(as_outsider(attack, shown, guesses)) >= 2


def test_ours_shows_nothing_also_when_an_attack_breaks(tmp_path):
    with weakened("an attack that works", BROKEN):
        shown, guesses = audited(Operator(tmp_path))
    assert b"ValueError in" in shown and b'"attack_rate"' in shown
    assert as_outsider(attack, shown, guesses) == []
