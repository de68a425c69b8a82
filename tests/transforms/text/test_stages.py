"""The running replacement step: an empirical check that its likelihood ratios stay within e^epsilon."""

import math
from collections import Counter

import apache_beam as beam
import pytest
from beam_elements import elements_of
from scipy.stats import beta

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.text.replace.randomised_response import epsilon_of
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.text.stages import ReplaceEntities

TRIALS = 4000
P = 0.5
PI = 1 / 3  # "noon", "midnight" and "midday" are alike in their list


def job_with(**options):
    mask, detect = read_spec("mask", "silence"), read_spec("detect", "rules")
    replace = read_spec("replace", {"use": "full", **options})
    secret = Secret(b"a secret of the test run")
    return Job("run", secret, {"slu": 1.0}, {"slu": 1}, detect, replace, mask, mask, mask, mask, Slicer())


def run(job, word):
    """Outputs of the Beam step for TRIALS utterances that say the word."""
    span = (Span(3, 3 + len(word), "TIME"),)
    batches = [
        [Utterance(f"u{b}-{i}", "d", 0, f"at {word}", Source("f", 1), spans=span) for i in range(500)]
        for b in range(TRIALS // 500)
    ]
    passed = elements_of(lambda pipeline: (pipeline | beam.Create(batches) | ReplaceEntities(job)).passed)
    counts = Counter(utterance.text[3:] for batch in passed for utterance in batch)
    assert counts.total() == TRIALS
    return counts


def interval(hits, alpha):
    """Clopper-Pearson."""
    low = beta.ppf(alpha / 2, hits, TRIALS - hits + 1) if hits else 0.0
    high = beta.ppf(1 - alpha / 2, hits + 1, TRIALS - hits) if hits < TRIALS else 1.0
    return low, high


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"p": P}, {"target_epsilon": math.log(4), "p_mode": "token"}], ids=str)
def test_likelihood_ratios_of_the_beam_step_stay_within_epsilon(options):
    """12 intervals at 1e-6 each: a right step fails for one key in 80,000; the key is fixed, so it does not flicker.

    The lower end of a ratio's interval must not exceed e^epsilon, and for the kept value its upper end must reach it
    (the lemma is tight): a step that draws wrongly, or never draws the value that was there, falls outside.
    """
    epsilon = epsilon_of(P, PI)
    assert epsilon == pytest.approx(math.log(4))
    job = job_with(**options)
    counts = {word: run(job, word) for word in ("noon", "midnight")}
    assert set(counts["noon"]) == {"noon", "midnight", "midday"}
    for one, other in (("noon", "midnight"), ("midnight", "noon")):
        for output in counts[one]:
            low, high = interval(counts[one][output], 1e-6)
            other_low, other_high = interval(counts[other][output], 1e-6)
            assert low / other_high <= math.exp(epsilon)
            if output == one:
                assert high / other_low >= math.exp(epsilon)


def test_slots_move_with_the_text():
    utterance = Utterance(
        "u",
        "d",
        0,
        "wake me at noon please",
        Source("f", 1),
        spans=(Span(11, 15, "TIME"),),
        slots=(Slot(11, 15, "time"),),
    )
    job = job_with(use="typed")
    ((found,),) = elements_of(lambda pipeline: (pipeline | beam.Create([[utterance]]) | ReplaceEntities(job)).passed)
    assert found.text == "wake me at [TIME] please" and found.slots == (Slot(11, 17, "time"),)
    assert found.spans == ()
