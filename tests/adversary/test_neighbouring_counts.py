"""Attacker: has the lists of values that two executions counted, one with and one without a certain speaker, and subtracts.

The lists claim differential privacy, so they may be in anybody's hands. A speaker who was forgotten before a run was
repeated (`--force`) is the case to fear: every other count is the same. If the noise is the same as well, the values that
differ are his. Noise that is a function of the counts is tried too: it tells whether anybody is missing at all.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import apache_beam as beam
import pytest
from adversary import FLAKINESS, as_outsider, weakened
from beam_elements import elements_of

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.text.replace import private_counts
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.text import value_distribution
from sottovoce.transforms.text.value_distribution import CountValues

pytestmark = pytest.mark.slow
SECRET = Secret(b"one secret of both executions")
NAMES = [f"name{number:02d}" for number in range(48)]
HIS = set(NAMES[3::8])  # six of them
Lists = dict[str, dict[str, float]]


def said(speaker: str, name: str) -> Utterance:
    text = f"call {name}"
    spans = (Span(5, len(text), "PER"),)
    return Utterance(f"{speaker}-{name}", speaker, 0, text, Source("f", 1), speaker_id=speaker, spans=spans)


def corpus(with_him: bool) -> list[Utterance]:
    others = [said(f"s{i}", NAMES[(i + 6 * n) % 48]) for i in range(960) for n in range(8)]  # each by 160 speakers
    return [*others, *(said("him", name) for name in sorted(HIS) if with_him)]


def job(out: Any, run: str) -> Job:
    options = {"values": "corpus", "values_per_speaker": 8}
    other = read_spec("mask", "silence")
    return Job(
        places=RunPlaces.of(f"{out}/{run}"),
        secret=SECRET,
        sinks={"slu": 1.0},
        shards={"slu": 1},
        detect=read_spec("detect", "rules"),
        replace=read_spec("replace", {"use": "full", **options}),
        align=other,
        voice=other,
        mask=other,
        relisten=other,
        slice=Slicer(),
    )


def execute(job: Job, with_him: bool) -> Lists:
    (lists,) = elements_of(lambda pipeline: pipeline | beam.Create([corpus(with_him)]) | CountValues(job))
    return json.loads(json.dumps(lists))


def attack(first: Lists, second: Lists) -> set[str]:
    """Values whose counts differ by what one speaker brings."""
    names = first["PER"].keys() & second["PER"].keys()
    return {name for name in names if abs(first["PER"][name] - second["PER"][name]) == 1}


def not_kept(lists: Lists, place: str, nonce: str) -> Lists:
    return lists


def noise_of_the_run(settings, secret, nonce, pair):
    return NOISE(settings, secret, "the same for every execution", pair)


NOISE = private_counts._noise
KEPT, DRAWN = (
    "sottovoce.transforms.text.value_distribution:_kept",
    "sottovoce.models.text.replace.private_counts:_noise",
)


def test_noise_of_the_run_cancels_and_leaves_his_values(tmp_path):
    with weakened("a nonce for each execution, and lists that are kept", {DRAWN: noise_of_the_run, KEPT: not_kept}):
        lists = [execute(job(tmp_path, "run-1"), with_him) for with_him in (True, False)]
    assert as_outsider(attack, *lists) == HIS
    assert 1 / math.comb(len(lists[0]["PER"]), len(HIS)) < FLAKINESS  # that often a guess is as good


def test_noise_that_follows_from_the_counts_tells_whether_anybody_is_missing(tmp_path):
    """The way out that is none: equal lists mean that nobody came or went, with certainty."""

    def keyed_by_count(pair, count, settings, secret, nonce):
        return RELEASED(pair, count, settings, secret, str(count))

    target = "sottovoce.transforms.text.value_distribution:noisy_count"
    with weakened("noise that does not know the counts", {target: keyed_by_count, KEPT: not_kept}):
        same, again, without = (execute(job(tmp_path, "run-1"), with_him) for with_him in (True, True, False))
    assert same == again and same != without
    changed = {name for name in same["PER"] if same["PER"][name] != without["PER"].get(name)}
    assert changed <= HIS and len(changed) > 3  # but for noise that rounds to the same number


RELEASED = value_distribution.noisy_count


def test_our_second_execution_releases_nothing_new(tmp_path):
    lists = [execute(job(tmp_path, "run-1"), with_him) for with_him in (True, False)]
    assert lists[0] == lists[1] and as_outsider(attack, *lists) == set()


def test_our_lists_of_two_runs_differ_everywhere_and_his_values_are_two_of_many(tmp_path):
    """Two runs with noise of their own (Laplace of scale 8): a few values differ by one, whoever said them."""
    first, second = (execute(job(tmp_path, run), with_him) for run, with_him in (("run-1", True), ("run-2", False)))
    differing = {name for name in first["PER"] if first["PER"][name] != second["PER"].get(name)}
    assert as_outsider(attack, first, second) != HIS and len(differing) > 30


def test_a_retry_within_an_execution_is_no_second_release(tmp_path):
    ours = job(tmp_path, "run-1")
    with weakened("lists that are kept", {KEPT: not_kept}):
        assert execute(ours, True) == execute(dataclasses.replace(ours), True)
