"""The example of the report: made by the members of the job, never with the run's secret, and never a reason to fail."""

from __future__ import annotations

import base64
import dataclasses
import io

import pytest
import soundfile

from sottovoce.models.randomness import fresh_secret
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import Spec
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.report_example import TEXT, example_of
from sottovoce.transforms.engine.job import Job


def job(*assignments: str, sinks=("slu",)) -> Job:
    file = read_job(None, ("detect=rules", *assignments))
    own = {"slots": file.sections["detect"], "slice": file.sections["slice"], "audio": file.sections["audio"]}
    places = RunPlaces.of("/nowhere/run-000000000000")
    return Job(places, fresh_secret(), dict.fromkeys(sinks, 1.0), {}, **own, **file.members)


def test_it_shows_what_was_found_and_what_stands_there_now():
    made = example_of(job("replace=typed"))
    assert "".join(words for words, _ in made.before) == TEXT
    assert {kind for _, kind in made.before} >= {"DATE", "TIME"}
    assert made.after is not None and "[DATE]" in made.after and made.heard is None and not made.slices


def test_two_runs_with_two_secrets_show_the_same():
    assert example_of(job("replace=full")) == example_of(job("replace=full"))


def test_a_crowd_has_no_example_and_says_why():
    made = example_of(job("rewrite=crowd"))
    assert made.before == () and made.after is None and made.missing


def test_what_cannot_be_made_here_is_said_and_nothing_is_raised(tmp_path):
    broken = dataclasses.replace(job(), detect=Spec("detect", "tagger", (("model", str(tmp_path)),)))
    made = example_of(broken)
    assert made.before == () and made.missing.startswith("It could not be made")


@pytest.mark.slow
def test_speech_is_heard_before_and_after_without_its_sensitive_words():
    made = example_of(job(sinks=("stt_am",)))
    assert made.missing == "" and made.after is None and made.heard and made.slices
    for sound in (made.heard, *made.slices):
        samples, rate_hz = soundfile.read(io.BytesIO(base64.b64decode(sound.source.partition(",")[2])))
        assert rate_hz == 16_000 and len(samples) > rate_hz
    assert not any("friday" in sound.text for sound in made.slices)
