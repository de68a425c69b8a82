"""Plant identifiers everywhere and look for them in every byte that a run leaves behind."""

from __future__ import annotations

import json
import shutil

import pyarrow.parquet as pq
import pytest
from whole_runs import demo_records, in_its_own_process, only_run, write_manifest

PLANTED = {
    "speaker": "oswaldina",
    "dialogue": "quetzalroom",
    "utterance": "zirconturn",
    "file": "brunhildevoice",
    "email": "petronella.quist@example.com",
    "spoken email": "petronella dot quist at example dot com",
    "phone": "555-0147",
    "spoken phone": "five five five oh one four seven",
    "broken line": "wilhelmina",
    "label": "my name is thaddeus",
    "bytes": "ysoldekey",
}


def corpus(folder):
    """Good records whose ids, files and texts hold planted strings, and malformed ones that hold them too."""
    audio = folder / PLANTED["file"]
    audio.mkdir(parents=True)
    records: list = []
    for number, record in enumerate(demo_records(40)):
        name = audio / f"{number}.flac"
        shutil.copy(record["audio_filepath"], name)
        record |= {
            "id": f"{PLANTED['utterance']}{number}",
            "dialogue_id": f"{PLANTED['dialogue']}{number // 2}",
            "speaker_id": PLANTED["speaker"],
            "audio_filepath": str(name),
        }
        if number % 4 == 0:
            text = f"write to {PLANTED['email']} or {PLANTED['spoken email']}"
            record |= {"text": text, "slots": [{"name": "email", "begin": 9, "end": 9 + len(PLANTED["email"])}]}
        if number % 4 == 1:
            record |= {"text": f"call {PLANTED['phone']} or {PLANTED['spoken phone']}", "slots": []}
        records.append(record)
    broken = {"dialogue_id": PLANTED["dialogue"], "speaker_id": PLANTED["speaker"], "text": PLANTED["broken line"]}
    records += [
        json.dumps(broken)[:-9],
        json.dumps(broken).encode() + b"\xff\xfe",
        json.dumps(broken | {"turn": PLANTED["broken line"]}),
        json.dumps(broken | {"intent": PLANTED["label"]}),
        json.dumps(broken | {"slots": [{"name": "x", "begin": 0, "end": 999}]}),
        json.dumps({"speaker_id": PLANTED["speaker"]}),
        # good for text, refused as speech: its file does not exist
        json.dumps(broken | {"text": "good morning", "audio_filepath": str(audio / f"{PLANTED['bytes']}.wav")}),
        json.dumps([PLANTED["broken line"]]),
    ]
    return write_manifest(folder, records)


def texts_in(folder):
    """Every file as bytes, and the values inside Parquet, which are compressed."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.name.encode() + b" " + path.read_bytes()
            if path.suffix == ".parquet":
                yield json.dumps(pq.read_table(path).to_pylist(), default=repr).encode()


def assert_clean(*contents: bytes):
    for what, planted in PLANTED.items():
        for content in contents:
            assert planted.encode().lower() not in content.lower(), f"the planted {what} got out"


@pytest.mark.slow
@pytest.mark.parametrize("sink", ["stt_am", "stt_lm", "slu", "dm"])
def test_nothing_planted_gets_out(tmp_path, sink, secret_file):
    manifest = corpus(tmp_path / "in")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    done = in_its_own_process(
        *("sanitize", "--input", manifest, "--output", tmp_path / "out", "--secret-file", secret_file),
        *("--set", f"sinks={{{sink}: 1}}"),
        env={"TMPDIR": str(scratch)},
    )
    run = only_run(tmp_path / "out")
    assert json.loads((run / "_COMMITTED.json").read_text())["counts"]["failed"] >= 7
    assert_clean(*texts_in(run), *texts_in(scratch), done.stdout.encode(), done.stderr.encode())
    assert secret_file.read_bytes() not in b"".join(texts_in(run))


@pytest.mark.slow
def test_a_pipeline_that_breaks_says_nothing_of_its_records(tmp_path):
    """The output disk is full, so to speak: the writer raises outside of any stage."""
    manifest = corpus(tmp_path / "in")
    (tmp_path / "out").write_text("a file where the folder should be")
    done = in_its_own_process("sanitize", "--input", manifest, "--output", tmp_path / "out", check=False)
    assert done.returncode != 0
    assert_clean(done.stdout.encode(), done.stderr.encode())
