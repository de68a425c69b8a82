"""Attacker: has the released speech, and listens for names.

Transcripts have errors. A name that is said and not written, or written as another word, is found by no detector, and nobody
masks it. In a voice that keeps the sound it would be heard, did the aligner not tell that what is said there is something else.
"""

from __future__ import annotations

import hashlib
import io

import pytest
import soundfile
from adversary import Operator, Released, as_outsider, weakened
from spoken_corpus import say

from sottovoce.models.evaluation.audit.ear import Ear
from sottovoce.models.randomness import Secret
from sottovoce.models.speech.audio import Speech, to_flac

pytestmark = pytest.mark.slow
BEFORE = "please tell them that the meeting on monday has been moved to the second floor and that"
AFTER = "will bring the new plan for the summer holidays with all of the numbers that we asked for"
SAID = ("elizabeth", "alexander", "benjamin", "jonathan", "christopher", "victoria")
WRITTEN = ("", "everybody")  # in place of the name
SECRET = hashlib.sha256(b"the draws of this test").digest()  # of the voice: what is heard is compared with a threshold
# The mildest voice that is allowed: a strongly bent name is not always heard.
VOICE = "voice={use: mcadams, low: 0.9, high: 0.95}"
JOB = ("--set", "sinks={stt_am: 1}", "--set", VOICE, "--set", "relisten=none")


def corpus(operator: Operator) -> list[dict]:
    records = []
    folder = operator.home / "corpus"
    folder.mkdir()
    for number, name in enumerate(SAID):
        (folder / f"{number}.flac").write_bytes(to_flac(say((BEFORE, name, AFTER), "slt")))
        text = " ".join(f"{BEFORE} {WRITTEN[number % 2]} {AFTER}".split())
        key = f"u{number}"
        records.append(
            {"id": key, "dialogue_id": key, "speaker_id": key, "text": text, "audio_filepath": f"{number}.flac"}
        )
    return records


def attack(released: Released) -> dict[str, frozenset[str]]:
    """The names that are heard in each slice."""
    ear, found = Ear(SAID), {}
    for row in released.rows("stt_am"):
        samples, rate_hz = soundfile.read(io.BytesIO(row["audio"]["bytes"]), dtype="float32")
        found[row["id"]] = ear.heard(Speech(samples, rate_hz))
    return found


def heard_where_said(operator: Operator, heard: dict[str, frozenset[str]]) -> set[str]:
    """The names that are heard in a slice of their own recording; whose that is takes the secret."""
    secret = Secret(operator.secret)
    own = {
        secret.token("slice", f"u{number}", f"u{number}", place): name
        for number, name in enumerate(SAID)
        for place in range(20)
    }
    return {own[slice_id] for slice_id, names in heard.items() if own[slice_id] in names}


def test_a_build_that_takes_no_notice_of_misfits_lets_unwritten_names_through(tmp_path):
    operator = Operator(tmp_path, SECRET)
    no_notice = {"sottovoce.models.speech.chain:with_misfits": lambda words, spans: tuple(spans)}
    with weakened("leaving out what does not fit", no_notice):
        released = operator.release(corpus(operator), *JOB)
    assert len(heard_where_said(operator, as_outsider(attack, released))) >= 5


def test_of_names_that_are_said_and_not_written_none_is_heard(tmp_path):
    operator = Operator(tmp_path, SECRET)
    released = operator.release(corpus(operator), *JOB)
    assert len(released.rows("stt_am")) >= len(SAID)
    assert not heard_where_said(operator, as_outsider(attack, released))


@pytest.mark.long
@pytest.mark.parametrize(
    "job",
    [
        ("voice=frame_knn",),
        ("voice=vtln",),
        (VOICE, "audio.align_on=anonymised"),
        (VOICE, "slice={cross_masked: false, min_seconds: 0.5}"),
        ("voice={use: phonetic, versions: 2}",),
        ("voice=phonetic", "mask=surrogate", "replace=full"),
    ],
)
def test_nor_is_one_heard_or_a_wrong_word_read_whatever_the_voice_and_the_cuts(tmp_path, job):
    operator = Operator(tmp_path, SECRET)
    flags = [word for value in (*JOB[1::2], *job) for word in ("--set", value)]
    released = operator.release(corpus(operator), *flags)
    rows = released.rows("stt_am")
    assert len(rows) >= len(SAID) and not any("everybody" in row["text"] for row in rows)
    assert not heard_where_said(operator, as_outsider(attack, released))
