"""What crosses a shuffle: ids and text, never speech; and text as it was said only where a join needs it.

The bytes are those that the workers of the local runner send, after Beam has fused and combined.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from shuffles import Crossings, recorded
from whole_runs import demo_records, sottovoce, write_manifest, write_secret

from sottovoce.models.settings import Spec

pytestmark = pytest.mark.slow

RECORDS_PER_BATCH = 4
# two keyed ids, file and line, a text of up to 100 characters, slots, a reference to the audio, and the spans that were found:
# batches of the corpus and of canaries meet after detection
BYTES_PER_RECORD = 1024
BYTES_PER_ELEMENT = 512  # what a batch or a tally holds beside its records
SPEECH_BYTES = 16_000  # half a second as samples of 16 bits: any element that holds speech is larger
BATCH, READING = f"input.records_per_batch={RECORDS_PER_BATCH}", ("Read/SpreadFiles", "Read/SpreadChunks")


def planted(record: dict) -> dict:
    """Ids that cannot be in the bytes by chance."""
    names = {name: f"planted {name} {record[name]}" for name in ("id", "dialogue_id", "speaker_id")}
    return record | names


def sensitive_texts(records: list[dict]) -> list[bytes]:
    """Texts that may not be released as they are."""
    detector = Spec("detect", "rules").make()
    detector.setup()
    texts = [record["text"] for record in records]
    return [text.encode() for text, spans in zip(texts, detector.detect(texts), strict=True) if spans]


def steps_that_carry(crossings: Crossings, *contents: bytes) -> set[str]:
    return {
        step
        for step, elements in crossings.items()
        if any(content in element for element in elements for content in contents)
    }


def assert_small_and_without_speech(*crossings: Crossings) -> None:
    limit = BYTES_PER_ELEMENT + RECORDS_PER_BATCH * BYTES_PER_RECORD
    assert limit < SPEECH_BYTES
    for elements_by_step in crossings:
        assert not steps_that_carry(elements_by_step, b"fLaC", b"RIFF")
        largest = {step: max(map(len, elements)) for step, elements in elements_by_step.items()}
        assert {step: size for step, size in largest.items() if size > limit} == {}


def test_of_a_run_with_speech_only_references_and_released_text_cross(tmp_path):
    records = [planted(record) for record in demo_records(16)]
    manifest = write_manifest(tmp_path / "in", records)
    with recorded() as (grouped, passed):
        sottovoce(
            "sanitize",
            "--input",
            manifest,
            "--output",
            tmp_path / "out",
            "--set",
            BATCH,
            "--set",
            "sinks={stt_am: 1, dm: 1, slu: 1}",
            "--secret-file",
            secret(tmp_path),
        )
    steps = {step.split("/ReshufflePerKey")[0] for step in grouped}
    assert {*READING, "RememberTaken/WriteState/Shuffle", "stt_am/ByUtterance", "Write dm/Shuffle"} <= steps
    assert {"Write stt_am/Shuffle", "Write dm/Shuffle", "Merge/CombinePerKey/Group"} <= steps
    assert_small_and_without_speech(grouped, passed)
    assert not steps_that_carry(grouped, b"planted") | steps_that_carry(passed, b"planted")
    raw = sensitive_texts(records)
    assert raw and not steps_that_carry(grouped, *raw) | steps_that_carry(passed, *raw)
    released = [record["text"].encode() for record in records if record["text"].encode() not in raw]
    assert steps_that_carry(grouped, *released), "text is seen where it is: the method can find it"


def test_a_night_joins_raw_text_with_what_was_taken_and_spent_and_nowhere_else(tmp_path):
    records = [without_audio(planted(record)) for record in demo_records(24)]
    arguments = ("--output", tmp_path / "out", "--secret-file", secret(tmp_path), "--set", BATCH)
    (tmp_path / "job.yaml").write_text("")
    nights = []
    for name, part in (("first", records[:12]), ("second", records)):
        manifest = write_manifest(tmp_path / name, part)
        with recorded() as (grouped, passed):
            sottovoce("nightly", "--config", tmp_path / "job.yaml", "--input", manifest, *arguments)
        nights.append((grouped, passed))
    for grouped, passed in nights:
        assert_small_and_without_speech(grouped, passed)
        joins = steps_that_carry(grouped, *sensitive_texts(records)) | steps_that_carry(grouped, b"planted")
        assert {step.split("/Join")[0] for step in joins} == {"SkipTaken", "ChargeSpeakers"}
    assert any(step.startswith("SkipTaken/Taken") for step in nights[1][0]), "the state is read in the graph"


def test_kaldi_tables_are_joined_by_id_and_nothing_else_carries_raw_text(tmp_path):
    records = [planted(record) for record in demo_records(24)]
    folder = tmp_path / "kaldi"
    folder.mkdir()
    ids = [record["id"].replace(" ", "-") for record in records]
    tables = {
        "text": [f"{key} {record['text']}" for key, record in zip(ids, records, strict=True)],
        "wav.scp": [f"{key} {record['audio_filepath']}" for key, record in zip(ids, records, strict=True)],
        "utt2spk": [f"{key} speaker-{number % 3}" for number, key in enumerate(ids)],
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(sorted(lines)) + "\n")
    with recorded() as (grouped, passed):
        sottovoce(
            "sanitize", "--input", folder, "--output", tmp_path / "out", "--set", BATCH, "--set", "sinks={slu: 1}"
        )
    assert_small_and_without_speech(grouped, passed)
    carrying = steps_that_carry(grouped, b"planted", *sensitive_texts(records))
    assert carrying == {"Read/Tables/Group utterances"}


def without_audio(record: dict) -> dict:
    return {key: value for key, value in record.items() if key not in ("audio_filepath", "duration")}


def secret(folder: Path) -> Path:
    return write_secret(folder / "secret", "number 1")  # it sends a dialogue to each sink
