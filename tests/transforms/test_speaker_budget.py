"""What a speaker is charged in one night, with and without lists that are counted in the corpus."""

import dataclasses
import math

import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.slice import Slicer
from sottovoce.transforms.job import Job
from sottovoce.transforms.speaker_budget import CHARGES, _Charge
from sottovoce.transforms.stage import FAILURES
from sottovoce.transforms.value_distribution import _Contributions

SECRET = Secret(b"a secret of the test run")


def job_with(sinks=("slu",), budget=math.inf, beyond="withhold", **options):
    rules, silence = read_spec("detect", "rules"), read_spec("mask", "silence")
    return Job(
        run_uri="run", secret=SECRET, sinks=dict.fromkeys(sinks, 1.0), shards=dict.fromkeys(sinks, 1), detect=rules,
        replace=read_spec("replace", {"use": "full", **options}), align=silence, voice=silence, mask=silence,
        relisten=silence, slice=Slicer(), nightly=True, speaker_epsilon=budget, beyond_budget=beyond,
    )  # fmt: skip


def said(number, name=None):
    text = f"call {name}" if name else "good night"
    spans = (Span(5, len(text), "PER"),) if name else ()
    return Utterance(
        id=f"u{number}", dialogue_id=f"d{number}", turn=0, text=text, source=Source("f", number), speaker_id="s",
        spans=spans,
    )  # fmt: skip


def charged(job, turns, spent=()):
    """(epsilon, turns that passed, turns withheld) of one night of one speaker."""
    epsilon, passed, withheld = 0.0, [], 0
    charge = _Charge(job)
    charge.setup()
    for output in charge.process(("key", {"found": [turns], "spent": [(value, 1) for value in spent]})):
        tag = getattr(output, "tag", None)
        if tag == CHARGES:
            epsilon += output.value[0][1][0]
        elif tag == FAILURES:
            withheld += len(output.value)
        elif tag is None:
            passed += output
    return epsilon, passed, withheld


COUNTED = {"values": "corpus", "corpus_epsilon": 0.5}
NAMES = [said(0, "anna"), said(1, "bert"), said(2)]


@pytest.mark.parametrize("sink", ["slu", "stt_am"])
def test_a_night_that_counts_its_corpus_charges_each_counted_speaker_once_whatever_the_sink(sink):
    assert charged(job_with((sink,), **COUNTED), NAMES)[0] == 0.5
    assert charged(job_with((sink,), **COUNTED), NAMES, spent=[0.5])[0] == 0.5  # the next night releases other lists


def test_a_speaker_who_names_nothing_is_in_no_list_and_pays_nothing():
    assert charged(job_with(**COUNTED), [said(0), said(1)])[0] == 0.0


def test_counting_comes_on_top_of_the_units():
    assert charged(job_with(**COUNTED, target_epsilon=2.0), NAMES)[0] == pytest.approx(0.5 + 2 * 2.0)
    assert charged(job_with(target_epsilon=2.0), NAMES)[0] == pytest.approx(2 * 2.0)


def test_what_the_budget_does_not_cover_is_withheld_and_not_counted():
    epsilon, passed, withheld = charged(job_with(**COUNTED, budget=1.2), NAMES, spent=[1.0])
    assert (epsilon, [turn.id for turn in passed], withheld) == (0.0, ["u2"], 2)


def test_beyond_the_budget_replaced_turns_stay_out_of_the_lists():
    job = job_with(**COUNTED, budget=1.2, beyond="replace_always")
    epsilon, passed, _ = charged(job, NAMES, spent=[1.0])
    contributions = _Contributions(job.replace, SECRET)
    assert epsilon == 0.0 and len(passed) == 3
    assert not list(contributions.process(passed)) and list(contributions.process(NAMES))


def test_a_value_that_no_public_list_holds_may_get_a_counted_list_and_is_charged():
    """A date that only the corpus list knows goes through randomised response all the same."""
    text = "on the feast of saint swithun"
    turn = dataclasses.replace(said(0), text=text, spans=(Span(3, len(text), "DATE"),))
    assert charged(job_with(**COUNTED, target_epsilon=2.0), [turn])[0] == pytest.approx(2.5)
    assert charged(job_with(target_epsilon=2.0), [turn])[0] == 0.0  # always replaced by its shape


def test_exact_counts_are_beyond_every_budget():
    assert charged(job_with(values="corpus_raw", budget=100.0), NAMES)[2] == 2
