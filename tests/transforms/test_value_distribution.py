"""Values counted in the graph: bounded by speaker, noisy, and the only source of what replaces them."""

import dataclasses

import apache_beam as beam
import pytest
from beam_elements import elements_of

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.slice import Slicer
from sottovoce.transforms.job import Job
from sottovoce.transforms.replace import ReplaceEntities
from sottovoce.transforms.value_distribution import CountValues, counting_of

SECRET = Secret(b"a secret of the test run")
pytestmark = pytest.mark.slow


def job_with(run="run", **options):
    specs = {family: read_spec(family, name) for family, name in (("detect", "rules"), ("mask", "silence"))}
    return Job(
        run_uri=run,
        secret=SECRET,
        sinks={"slu": 1.0},
        shards={"slu": 1},
        detect=specs["detect"],
        replace=read_spec("replace", {"use": "full", **options}),
        align=specs["mask"],
        voice=specs["mask"],
        mask=specs["mask"],
        relisten=specs["mask"],
        slice=Slicer(),
    )


def said(name, speaker, number=0):
    text = f"call {name}"
    return Utterance(
        id=f"{speaker}-{number}-{name}",
        dialogue_id=f"d-{speaker}",
        turn=number,
        text=text,
        source=Source("f", 1),
        speaker_id=speaker,
        spans=(Span(5, len(text), "PER"),),
    )


def corpus():
    """500 speakers say "anna" and 400 "bert"; one alone says "zebulon", one says 200 different names."""
    batch = [said("anna", f"s{i}") for i in range(500)] + [said("bert", f"s{i}") for i in range(400)]
    return [batch, [said("zebulon", "s7"), *(said(f"rare{i}", "chatty", i) for i in range(200))]]


def count(job, batches):
    (lists,) = elements_of(lambda pipeline: pipeline | beam.Create(batches) | CountValues(job))
    return lists


@pytest.fixture(scope="module")
def released():
    return count(job_with(values="corpus", values_per_speaker=2), corpus())


def test_common_values_are_released_and_rare_ones_withheld(released):
    """Laplace scale 2: counts within 60 of the truth but for one key in 10^12; zebulon passes with probability 1e-6."""
    assert set(released) == {"PER"} and set(released["PER"]) == {"anna", "bert"}
    assert abs(released["PER"]["anna"] - 500) < 60 and released["PER"]["anna"] != 500


def test_a_retry_repeats_the_noise_and_another_run_does_not(released):
    assert count(job_with(values="corpus", values_per_speaker=2), corpus()[::-1]) == released
    assert count(job_with("other run", values="corpus", values_per_speaker=2), corpus()) != released


def test_one_speaker_contributes_at_most_the_bound():
    batches = [[said(f"name{i}", "chatty", i) for i in range(300)] * 3]
    job = job_with(values="corpus", values_per_speaker=4, corpus_delta=0.49, corpus_epsilon=50.0)
    assert 1 <= len(count(job, batches).get("PER", {"one": 1})) <= 4


def test_a_public_vocabulary_gives_every_listed_value_and_no_other():
    job = job_with(values="corpus", corpus_vocabulary="list", values_per_speaker=2)
    lists = count(job, corpus())
    assert "zebulon" not in lists["PER"] and "anna" in lists["PER"] and len(lists["LOC"]) > 3000


def test_raw_counts_are_exact():
    assert count(job_with(values="corpus_raw"), corpus())["PER"]["anna"] == 500


def test_public_lists_need_no_count():
    assert counting_of(read_spec("replace", "full")) is None and counting_of(read_spec("replace", "typed")) is None


def test_what_replaces_comes_from_the_counted_list_alone():
    job = job_with(values="corpus", values_per_speaker=2)

    def build(pipeline):
        batches = pipeline | beam.Create(corpus())
        counted = dataclasses.replace(job, corpus_values=batches | CountValues(job))
        return (batches | ReplaceEntities(counted)).passed

    texts = [utterance.text for batch in elements_of(build) for utterance in batch]
    assert len(texts) == 1101 and set(texts) == {"call anna", "call bert"}
    assert 0.4 < sum(text == "call anna" for text in texts) / 1101 < 0.7
