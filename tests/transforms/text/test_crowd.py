"""Crowd release in the graph: what enough speakers said goes out, and nothing else of anybody."""

import dataclasses
import json
from collections import Counter

import apache_beam as beam
import pytest
from beam_elements import elements_of

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.text.rewrite.release import release as release_in_memory
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.text.crowd import BYTES_PER_SHARD, ReleaseCrowd

SECRET = Secret(b"a secret of the test run")
pytestmark = pytest.mark.slow


def job_with(out, sinks=("slu",), **options):
    other = read_spec("mask", "silence")
    return Job(
        places=RunPlaces.of(f"{out}/run-1"),
        secret=SECRET,
        sinks=dict.fromkeys(sinks, 1.0),
        shards=dict.fromkeys(sinks, 1),
        detect=read_spec("detect", "rules"),
        replace=read_spec("replace", "typed"),
        rewrite=read_spec("rewrite", {"use": "crowd", **options}),
        align=other,
        voice=other,
        mask=other,
        relisten=other,
        slice=Slicer(),
        nonce="one execution",
    )


def said(text, speaker, intent="ask", number=0, slots=()):
    name = speaker or f"nobody{number}"
    return Utterance(
        f"{name}-{number}", f"d-{name}", number, text, Source("f", 1), speaker_id=speaker, intent=intent, slots=slots
    )


def corpus():
    """100 speakers ask for the news, each of them twice; one has an intent, a sentence and a million words of his own."""
    crowd = [said("what is the news", f"s{i}", number=n) for i in range(100) for n in range(2)]
    slots = [said("play help", f"s{i}", "music", 3, (Slot(5, 9, "song"),)) for i in range(100)]
    nameless = [said("stop it now", None, "stop", n) for n in range(80)]
    him = [said(f"call zebulon number {n}", "him", "call_zebulon", n) for n in range(2000)]
    loud = [said("read my diary", "him", "read", 5000 + n) for n in range(500)]
    return [crowd + slots, nameless, him, loud]


def release(job, *batches, sink="slu"):
    def expand(pipeline):
        parts = {
            name: pipeline | name >> beam.Create(list(batches) if name == sink else [], reshuffle=False)
            for name in job.sinks
        }
        outputs = parts | ReleaseCrowd(job, corpus_bytes=3 * BYTES_PER_SHARD)
        return tuple(one.passed for one in outputs.values()) | "AllPassed" >> beam.Flatten()

    return [record for batch in elements_of(expand) for record in batch]


def repr_of(record):
    return str(dataclasses.astuple(record))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return out, release(job_with(out), *corpus())


def test_what_enough_speakers_said_goes_out_with_a_noisy_count_of_speakers(released):
    """Laplace or Gaussian noise of scale below 3: within 30 of the truth but for one run in 10^4 at the very most."""
    texts = Counter((one.text, one.intent) for one in released[1])
    assert set(texts) == {("what is the news", "ask"), ("play help", "music"), ("stop it now", "stop")}
    assert all(abs(texts[key] - true) < 30 for key, true in zip(sorted(texts), (100, 80, 100), strict=True))
    assert {slot.name for one in released[1] for slot in one.slots} == {"song"}


def test_what_one_speaker_alone_said_is_nowhere_however_often(released):
    out, records = released
    everything = json.dumps([str(dataclasses.asdict(one)) for one in records])
    everything += "".join(path.read_text() for path in out.rglob("*") if path.is_file())
    assert "zebulon" not in everything and "diary" not in everything


def test_a_record_belongs_to_nobody(released):
    assert all(one.speaker_id is None and one.id == one.dialogue_id for one in released[1])
    assert len({one.id for one in released[1]}) == len(released[1])


def test_the_graph_releases_what_a_plain_loop_does(released):
    """Compared with the same nonce: the noise is part of it."""
    looped, covered = release_in_memory(
        job_with("").rewrite.make(), [one for batch in corpus() for one in batch], "slu", SECRET, "one execution"
    )
    assert sorted(map(repr_of, looped)) == sorted(map(repr_of, released[1]))
    assert covered == 200 + 100 + 80


def test_whoever_executes_the_run_again_takes_what_was_released(released):
    out, before = released
    again = release(dataclasses.replace(job_with(out), nonce="another execution"), corpus()[0][:150])
    assert sorted(map(repr_of, again)) == sorted(map(repr_of, before))


def test_fewer_speakers_than_the_threshold_release_nothing(tmp_path):
    assert release(job_with(tmp_path), [said("good morning", f"s{i}") for i in range(3)]) == []


def test_the_next_rung_takes_what_is_left_and_sinks_share_one_bound(tmp_path):
    """Forty phrasings that nobody shares have one skeleton; what went out in full is not counted again."""
    fillers = ["please", "can you", "i want to", "would you", "hey", "so", "well", "now"]
    rare = [said(f"{fillers[i % 8]} {fillers[i // 8]} check the weather", f"r{i}", "weather") for i in range(40)]
    common = [said("what is the news", f"s{i}", "news") for i in range(60)]
    job = job_with(tmp_path, sinks=("slu", "stt_lm"), utterances_per_speaker=1, ladder={"full": 1.0, "skeleton": 1.0})
    records = release(job, rare, common)
    texts = Counter(one.text for one in records)
    assert set(texts) == {"what is the news", "check weather"} and texts["what is the news"] < 75
    shards = [json.loads(path.read_text())["released"] for path in tmp_path.rglob("*.skeleton-*.json")]
    kept = [json.loads(template)[2] for shard in shards for (_, template), _ in shard]
    assert len(shards) == 4 and kept == [["check", "weather"]]
