import json

import pytest
import soundfile

from sottovoce.models.export.folder import export
from sottovoce.models.records import Utterance


@pytest.fixture
def made(run, tmp_path):
    export(run, "nemo", tmp_path / "made")
    return tmp_path / "made"


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def test_speech_has_nemos_keys_and_the_very_bytes_of_the_run(made, records):
    audio = {row["id"]: row["audio"]["bytes"] for row in records["stt_am"]}
    manifest = lines(made / "stt_am.jsonl")
    assert len(manifest) == len(audio)
    for line in manifest:
        assert {"audio_filepath", "duration", "text"} <= set(line)
        path = made / line["audio_filepath"]
        assert path.read_bytes() == audio[line["id"]]
        assert soundfile.info(path).duration == pytest.approx(line["duration"])


def test_nobody_is_called_a_speaker(made):
    assert not any("speaker" in key for line in lines(made / "stt_am.jsonl") for key in line)


def test_a_line_of_text_is_one_line_of_the_manifest_whatever_it_holds(made, records):
    assert sorted(line["text"] for line in lines(made / "stt_lm.jsonl")) == [row["text"] for row in records["stt_lm"]]


def test_an_export_is_a_corpus_again(made, records, read_corpus):
    for sink, count in (("stt_am", 40), ("stt_lm", 3), ("slu", 2), ("dm", 3)):
        found = read_corpus("jsonl", made / f"{sink}.jsonl")
        assert len(found) == count and all(isinstance(record, Utterance) for record in found)
    dialogue = [turn for turn in read_corpus("jsonl", made / "dm.jsonl") if turn.dialogue_id == "dd01"]
    assert [(turn.turn, turn.text, turn.intent) for turn in dialogue] == [
        (1, "call [NAME]", "call"),
        (2, "yes please", None),
    ]
    assert [slot.name for slot in dialogue[0].slots] == ["contact"]
