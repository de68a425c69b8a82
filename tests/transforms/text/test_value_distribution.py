"""Values counted in the graph: bounded by speaker, noisy, and the only source of what replaces them."""

import dataclasses
from pathlib import Path

import apache_beam as beam
import pytest
from beam_elements import elements_of

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.slice import Slicer
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.text.stages import ReplaceEntities
from sottovoce.transforms.text.value_distribution import CountValues, counting_of

SECRET = Secret(b"a secret of the test run")
pytestmark = pytest.mark.slow


def job_with(out, run="run-2", **options):
    specs = {family: read_spec(family, name) for family, name in (("detect", "rules"), ("mask", "silence"))}
    return Job(
        places=RunPlaces.of(f"{out}/{run}"),
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
def released(tmp_path_factory):
    return count(job_with(tmp_path_factory.mktemp("out"), values="corpus", values_per_speaker=2), corpus())


def test_common_values_are_released_and_rare_ones_withheld(released):
    """Laplace scale 2: counts within 60 of the truth but for one key in 10^12; zebulon passes with probability 1e-6."""
    assert set(released) == {"PER"} and set(released["PER"]) == {"anna", "bert"}
    assert abs(released["PER"]["anna"] - 500) < 60


COUNTED = {"values": "corpus", "values_per_speaker": 2}
LISTED = COUNTED | {"corpus_vocabulary": "list"}  # thousands of noisy counts: two draws are never equal by chance


def test_a_retry_repeats_the_noise(tmp_path):
    """The same execution on another worker, before anything was kept."""
    job = job_with(tmp_path, **COUNTED)
    first = count(job, corpus())
    Path(job.places.lists).unlink()
    assert count(job, corpus()[::-1]) == first


def test_another_run_and_another_output_have_noise_of_their_own(tmp_path):
    jobs = [job_with(out, run, **LISTED) for out in (tmp_path / "a", tmp_path / "b") for run in ("run-2", "run-3")]
    counted = [count(job, corpus()) for job in jobs]
    assert all(one != other for at, one in enumerate(counted) for other in counted[:at])


def test_a_second_execution_of_a_run_uses_the_lists_of_the_first_whatever_it_counts(tmp_path):
    first = count(job_with(tmp_path, **COUNTED), corpus())
    more = [*corpus(), [said("carla", f"t{i}") for i in range(300)]]
    assert count(job_with(tmp_path, **COUNTED), more) == first
    kept = Path(job_with(tmp_path).places.lists)
    assert kept.stat().st_mode & 0o077 == 0 and kept.parent.stat().st_mode & 0o077 == 0


def test_an_execution_that_kept_nothing_is_followed_by_fresh_noise(tmp_path):
    job = job_with(tmp_path, **LISTED)
    first = count(job, corpus())
    Path(job.places.lists).unlink()
    assert count(job_with(tmp_path, **LISTED), corpus()) != first


def test_one_speaker_contributes_at_most_the_bound(tmp_path):
    batches = [[said(f"name{i}", "chatty", i) for i in range(300)] * 3]
    job = job_with(tmp_path, values="corpus", values_per_speaker=4, corpus_delta=0.49, corpus_epsilon=50.0)
    assert 1 <= len(count(job, batches).get("PER", {"one": 1})) <= 4


def test_a_public_vocabulary_gives_every_listed_value_and_no_other(tmp_path):
    job = job_with(tmp_path, values="corpus", corpus_vocabulary="list", values_per_speaker=2)
    lists = count(job, corpus())
    assert "zebulon" not in lists["PER"] and "anna" in lists["PER"] and len(lists["LOC"]) > 3000


def test_raw_counts_are_exact_and_not_kept(tmp_path):
    job = job_with(tmp_path, values="corpus_raw")
    assert count(job, corpus())["PER"]["anna"] == 500 and not Path(job.places.lists).exists()


def test_public_lists_need_no_count():
    assert counting_of(read_spec("replace", "full")) is None and counting_of(read_spec("replace", "typed")) is None


def replaced(job, batches):
    def build(pipeline):
        made = pipeline | beam.Create(batches)
        counted = dataclasses.replace(job, corpus_values=made | CountValues(job))
        return (made | ReplaceEntities(counted)).passed

    return {utterance.id: utterance.text for batch in elements_of(build) for utterance in batch}


def test_what_replaces_comes_from_the_counted_list_alone(tmp_path):
    texts = list(replaced(job_with(tmp_path, **COUNTED), corpus()).values())
    assert len(texts) == 1101 and set(texts) == {"call anna", "call bert"}
    assert 0.4 < sum(text == "call anna" for text in texts) / 1101 < 0.7


def test_a_second_execution_draws_the_same_surrogates_and_another_mechanism_draws_its_own(tmp_path):
    """With lists of its own, or another epsilon, a kept word would be the one that both texts have in common."""
    batches = [[said(name, f"s{i}") for i in range(300)] for name in ("anna", "bert")]
    first = replaced(job_with(tmp_path, target_epsilon=1.1, **COUNTED), batches)
    assert replaced(job_with(tmp_path, target_epsilon=1.1, **COUNTED), batches) == first
    # Each is the true name with probability about 3/4, apart from each other: one of the two is, 0.38 of the time. Noise that
    # rounds to the same counts, once in 50 times, makes the mechanism of the first run, and then the same draws.
    others = [job_with(tmp_path, f"run-{number}", target_epsilon=1.1, **COUNTED) for number in (3, 5, 6)]
    texts = [replaced(job, batches) for job in (*others, job_with(tmp_path, "run-4", target_epsilon=1.0, **COUNTED))]
    differs = [sum(own[name] != first[name] for name in first) / len(first) for own in texts]
    assert all(share == 0 or 0.25 < share < 0.55 for share in differs[:-1]) and any(differs[:-1])
    assert 0.25 < differs[-1] < 0.55
