"""`sottovoce build align` makes a model that the aligner takes; nothing that is no model is taken for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.evaluation.learners.map_adapted import MapAdapted
from sottovoce.models.records import AudioRef
from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import load
from sottovoce.pipelines.cli import main

DEMO = Path(__file__).parents[3] / "examples/demo"


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="build align"):
        PocketSphinx(model=str(tmp_path)).setup()


@pytest.mark.slow
def test_an_adapted_aligner_fits_its_corpus_better(tmp_path: Path, capsys) -> None:
    try:
        MapAdapted().setup()
    except RunError as missing:
        pytest.skip(str(missing))
    records = [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text().splitlines()][:12]
    chosen = [record | {"audio_filepath": str(DEMO / record["audio_filepath"])} for record in records]
    corpus, out = tmp_path / "corpus.jsonl", tmp_path / "aligner"
    corpus.write_text("".join(json.dumps(record) + "\n" for record in chosen))
    assert main(["build", "align", "--data", str(corpus), "--audio-root", str(DEMO), "--out", str(out)]) == 0
    assert "of 12 recordings" in capsys.readouterr().out
    fits = []
    for model in (None, str(out)):
        aligner = PocketSphinx(floor=-1e9, word_floor=-1e9, pause_floor=-1e9, phone_floor=-1e9, model=model)
        aligner.setup()
        words = [w for r in chosen[:4] for w in aligner.align(load(AudioRef(r["audio_filepath"])), r["text"])]
        fits.append(sum(word.confidence for word in words) / len(words))
    assert fits[1] >= fits[0]
