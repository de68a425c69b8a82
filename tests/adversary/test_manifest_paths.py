"""Attacker: wrote the manifest of a corpus that somebody else sanitises, and is told which lines were refused, and why.

Each line may name any path. Reasons that differ between files that are there, missing and forbidden answer questions about the
machine of the operator; a recording that is there is released as if it belonged to the corpus.
"""

from __future__ import annotations

import os
import shutil

import pytest
from adversary import Operator, as_outsider, weakened
from whole_runs import demo_records, only_run, rows

MINE, THEIRS = demo_records(12)[0], demo_records(12)[11]  # of the attacker's own corpus, and of somebody else's
JOB = ("--set", "sinks={stt_am: 1}", "--set", "voice=mcadams", "--set", "relisten=none")


def probes(operator: Operator) -> dict[str, str]:
    """Name of a question -> path that asks it. Pairs of them differ only in what is on the operator's machine."""
    corpus, private = operator.home / "corpus", operator.home / "somebody else"
    corpus.mkdir()
    private.mkdir()
    shutil.copy(THEIRS["audio_filepath"], private / "there.flac")
    (private / "text").write_text("no recording")
    (private / "empty").touch()
    os.mkfifo(private / "pipe")
    (corpus / "link").symlink_to(private)
    (corpus / "link to a file").symlink_to(private / "there.flac")
    (corpus / "link to nothing").symlink_to(private / "missing")
    found = {"system file": "/etc/passwd", "no system file": "/etc/missing", "device": "/dev/zero", "root": "/"}
    for name in ("there.flac", "missing.flac", "text", "empty", "pipe", "there.flac/below", ""):
        found |= {f"absolute {name}": f"{private}/{name}", f"relative {name}": f"../somebody else/{name}"}
        found |= {f"by link {name}": f"link/{name}", f"by a long way {name}": f"x/../link/./{name}"}
    by_links = {name: name for name in ("link to a file", "link to nothing")}
    return found | by_links | {"bucket": "gs://bucket/a.flac", "scheme": f"file://{private}/there.flac"}


def records(asked: dict[str, str]) -> list[dict]:
    """Each probe with the transcript of the recording that the attacker is after."""
    return [
        {"id": name, "dialogue_id": name, "text": THEIRS["text"], "audio_filepath": path}
        for name, path in asked.items()
    ]


def attack(refused: list[dict], asked: list[str]) -> dict[str, set[str]]:
    """Answer -> the questions that got it. One answer to all is no answer; "released" is the recording itself."""
    lines = {row["line"]: row["reason"] for row in refused}
    answers: dict[str, set[str]] = {}
    for line, name in enumerate(asked, start=1):
        answers.setdefault(lines.get(line, "released"), set()).add(name)
    return answers


def answers_to(operator: Operator, asked: dict[str, str], *flags: str) -> dict[str, set[str]]:
    released = operator.release([*records(asked), MINE], *JOB, *flags)
    assert released.rows("stt_am"), "the attacker's own recording passes"
    sent_back = rows(only_run(operator.out("out")), "failures")  # a supplier asks why, and an operator tells
    return as_outsider(attack, sent_back, list(asked))


@pytest.mark.slow
def test_a_build_that_opens_any_path_answers_questions_and_hands_recordings_out(tmp_path):
    operator = Operator(tmp_path)
    anywhere = {"sottovoce.models.speech.audio_roots:AudioRoots.place": lambda self, uri: uri}
    asked = probes(operator)
    del asked["bucket"]  # this build would wait for one
    with weakened("the roots", anywhere):
        answers = answers_to(operator, asked)
    assert {"absolute there.flac", "relative there.flac", "by link there.flac"} <= answers["released"]
    assert {"absolute missing.flac", "no system file"} <= answers["audio_not_found"]
    assert {"system file", "absolute text"} <= answers["audio_unreadable"]
    assert len(answers) >= 5


@pytest.mark.slow
def test_ours_gives_one_answer_to_every_question(tmp_path):
    operator = Operator(tmp_path)
    asked = probes(operator)
    assert answers_to(operator, asked) == {"audio_outside_roots": set(asked)}


@pytest.mark.slow
def test_what_the_operator_names_is_read(tmp_path):
    operator = Operator(tmp_path)
    theirs = probes(operator)
    asked = {name: theirs[name] for name in ("absolute there.flac", "relative missing.flac")}
    answers = answers_to(operator, asked, "--set", f'input.audio_roots=["{operator.home / "somebody else"}"]')
    assert answers == {"released": {"absolute there.flac"}, "audio_not_found": {"relative missing.flac"}}
