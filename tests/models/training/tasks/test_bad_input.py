"""What a task cannot learn from is said in one line, before anything is trained, and without a word of the data."""

import gzip

import numpy as np
import pytest
import soundfile
from committed_run import commit, make_run
from tiny_training import write_jsonl

from sottovoce.models.errors import CorpusError, RunError, SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.loop.prepare import prepare
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.train_settings import TrainSettings

SPOKEN = [{"audio": "good.wav", "text": "hello"}, {"audio": "good.wav", "text": "secret word"}]


def prepared(tmp_path, task, rows):
    soundfile.write(tmp_path / "good.wav", np.sin(np.arange(16_000) / 9), 16_000)
    soundfile.write(tmp_path / "nan.wav", np.full(16_000, np.nan), 16_000, subtype="FLOAT")
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    settings = TrainSettings(task=task, mode="per_example", z0=1.0, validation_share=0.0)
    return prepare(str(data), settings, Secret(b"a key of this test"))


@pytest.mark.parametrize(
    ("task", "rows", "words"),
    [
        ("slu", [], "no labelled examples to train on"),
        ("lm", [], "no lines of text to train on"),
        ("am", [], "no slices of speech to train on"),
        ("dm", [], "no dialogues to train on"),
        ("lm", [{"text": "..."}] * 3, "3 rows have no word"),
        ("am", [{"audio": "good.wav"}] * 2, "2 rows have speech without text"),
        ("am", [row | {"text": "hello"} for row in SPOKEN], "all 2 slices say the same"),
        ("am", [{"audio": "nan.wav", "text": "secret word"}], "line 1: audio: audio_"),
        ("am", [{"text": "secret word"}], "line 1: audio: audio_"),
        ("dm", [{"turns": [{"text": "secret word", "intent": "a"}]}], "no labelled turn follows another turn"),
        ("dm", [{"turns": [{"text": "x", "intent": "a"}] * 3}] * 2, "the same act follows"),
        ("dm", [{"turns": [{"text": "secret", "intent": ["a"]}]}], "line 1: intent: expected a name"),
        ("lm", [{"text": "secret word"}] * 2, "all 2 lines are the same"),
        ("am", [row | {"text": f"{at} 7"} for at, row in enumerate(SPOKEN)], "has a sign of the model's alphabet"),
        ("slu", [{"text": "secret", "intent": "a", "slots": [{}]}], "slots: expected a list of objects with begin"),
        ("slu", [{"text": "secret", "intent": {"a": 1}}], "line 1: intent: expected a name"),
        ("lm", [{"text": "secret", "speaker": ["a"]}], "line 1: speaker: expected text"),
    ],
)
def test_data_that_teach_nothing_are_refused(tmp_path, task, rows, words):
    with pytest.raises(CorpusError, match=words) as error:
        prepared(tmp_path, task, rows)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("task", ["slu", "lm", "am", "dm"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"text": "secret", "intent": NaN}\n', "a.jsonl: line 1: NaN is no number of JSON"),
        ("a.jsonl", b'\n{"text": "secret", "turns": [-Infinity]}\n', "a.jsonl: line 2: -Infinity is no number of JSON"),
        ("a.jsonl", b'{"text":', "line 1: not a JSON object"),
        ("a.jsonl", b"\xff\xfe\x00secret", "a.jsonl: not UTF-8 text after line 0"),
        ("a.jsonl.gz", b"secret", "a.jsonl.gz: not a gzip file, or damaged"),
        ("a.jsonl.gz", gzip.compress(b"secret", mtime=0)[:12], "a.jsonl.gz: not a gzip file, or damaged"),
    ],
    ids=["nan", "infinity", "broken", "not text", "not gzip", "half a gzip"],
)
def test_files_that_are_no_json_lines_are_named_with_the_line(tmp_path, task, name, content, words):
    (tmp_path / name).write_bytes(content)
    settings = TrainSettings(task=task, mode="per_example", z0=1.0)
    with pytest.raises(CorpusError, match=words) as error:
        prepare(str(tmp_path / name), settings, Secret(b"a key of this test"))
    assert "secret" not in str(error.value)


def test_when_validation_takes_all_there_is_it_says_so(tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl", [{"text": f"line {at}"} for at in range(3)])
    settings = TrainSettings(task="lm", mode="per_example", z0=1.0, validation_share=1 - 1e-9)
    with pytest.raises(CorpusError, match="all 3 lines of text were drawn for validation"):
        prepare(str(data), settings, Secret(b"a key of this test"))


@pytest.mark.parametrize(("task", "sink"), [("lm", "stt_lm"), ("am", "stt_am"), ("dm", "dm")])
def test_a_run_without_the_sink_of_the_task_says_which_sinks_it_has(tmp_path, task, sink):
    run = commit(make_run(tmp_path / "out" / "run-0123456789ab"))
    with pytest.raises(RunError, match=f"no {sink} rows to train on; sinks with rows: slu"):
        prepare(str(run), TrainSettings(task=task, z0=1.0), Secret(b"a key of this test"))


@pytest.mark.parametrize("task", ["slu", "lm", "am", "dm"])
def test_fewer_units_than_processes_and_the_model_of_another_task_are_refused(task):
    with pytest.raises(SettingsError, match="3 examples for 4 processes"):
        make_plan(TrainSettings(task=task, mode="per_example", z0=1.0, batch_size=2, n_micro=1), 3, 4)
    other = "conv" if task != "am" else "clc"
    with pytest.raises(SettingsError, match=f"model: {other} is for task"):
        _ = TrainSettings(task=task, model=other, z0=1.0).member


def test_speakers_with_all_they_said_are_counted_and_the_rest_is_never_seen(tmp_path):
    rows = [{"text": f"line {at}", "speaker": f"s{at % 2}"} for at in range(100)]
    found = prepared(tmp_path, "lm", rows)
    assert found.settings.unit == "speaker" and [len(unit) for unit in found.units] == [32, 32]


def test_nobody_is_in_two_units_however_many_they_talk_to(tmp_path):
    """Named by who takes part, two dialogues of one person would be two units, and leaving that person out would move both."""
    pairs = [("anna", "bo"), ("anna", "cleo"), ("dan", "eve")]
    turns = [
        {"dialogue_id": f"d{at}", "text": f"turn {number}", "intent": f"act {number}", "speaker": person}
        for at, people in enumerate(pairs)
        for number, person in enumerate([*people, people[0]])
    ]
    found = prepared(tmp_path, "dm", turns)
    assert found.settings.unit == "speaker" and [len(unit) for unit in found.units] == [2, 1]
    of_anna = [at for at, people in enumerate(pairs) if "anna" in people]
    assert len({"+".join(sorted(pairs[at])) for at in of_anna}) == 2  # the weakened rule
    assert sum(bool(set(unit) & set(of_anna)) for unit in found.units) == 1


def test_speakers_are_known_by_either_name(tmp_path):
    rows = [{"text": f"line {at}", "speaker_id": f"s{at % 3}"} for at in range(9)]
    assert len(prepared(tmp_path, "lm", rows).units) == 3
