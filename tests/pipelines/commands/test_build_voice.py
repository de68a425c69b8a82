"""`sottovoce build voice` hears a corpus once and builds pools from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sottovoce.models.speech.voice import corpus_means, pool
from sottovoce.models.speech.voice.phonetic import Phonetic
from sottovoce.pipelines.cli import main

DEMO = Path(__file__).parents[3] / "examples/demo"
TINY = ["--set", "steps=1", "--set", "batch=2", "--set", "crop=32", "--set", "width=8", "--encoder", "none"]


@pytest.mark.slow
def test_a_corpus_is_heard_once_and_pools_leave_out_whom_they_are_told_to(tmp_path: Path, capsys) -> None:
    pytest.importorskip("torch")
    records = [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text().splitlines()]
    firsts = {record["speaker_id"]: record for record in reversed(records)}
    chosen = [record | {"audio_filepath": str(DEMO / record["audio_filepath"])} for record in firsts.values()]
    corpus, heard, out = tmp_path / "corpus.jsonl", tmp_path / "heard", tmp_path / "pool"
    corpus.write_text("".join(json.dumps(record) + "\n" for record in chosen))
    first = ["build", "voice", "--data", str(corpus), "--audio-root", str(DEMO), "--heard", str(heard)]
    assert main([*first, "--out", str(out), *TINY]) == 0
    everybody = set(pool.load(out).speaker.tolist())
    assert len(everybody) >= 5 and (out / "MODEL_CARD.md").is_file()
    left_out = sorted(everybody)[0]
    (tmp_path / "fold.txt").write_text(left_out + "\n")
    fold = ["--exclude-speakers", str(tmp_path / "fold.txt"), "--start", str(out), "--out", str(tmp_path / "fold")]
    assert main(["build", "voice", "--heard", str(heard), *fold, *TINY]) == 0
    assert set(pool.load(tmp_path / "fold").speaker.tolist()) == everybody - {left_out}
    capsys.readouterr()
    moved = ["build", "voice", "--heard", str(heard), "--move", "--start", str(out), "--out", str(tmp_path / "moved")]
    assert main([*moved, "--epsilon", "2"]) == 0
    assert "epsilon 2" in capsys.readouterr().out
    means = corpus_means.load(tmp_path / "moved")
    assert means is not None and means.epsilon == 2
    assert "epsilon 2, delta 1e-05" in Phonetic(pool=str(tmp_path / "moved")).ledger().says
    assert main([*moved, "--epsilon", "0"]) == 2


def test_without_speech_or_what_was_heard_of_it_nothing_is_built(tmp_path: Path, capsys) -> None:
    assert main(["build", "voice", "--out", str(tmp_path / "pool")]) == 2
    assert "--heard" in capsys.readouterr().err
