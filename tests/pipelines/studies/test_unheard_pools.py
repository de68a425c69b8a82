"""In a study nobody is spoken for by a pool that has heard them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.voice.pool import F0_QUANTILES, PHONES, VOICE_DIMENSION, Pool
from sottovoce.pipelines.studies.unheard_pools import speakers_in_pool, unheard

VOICE = read_spec("voice", {"use": "phonetic", "prosody": 0.5})


def saved(folder: Path, *speakers: str) -> Path:
    def rows(width: int) -> np.ndarray:
        return np.zeros((len(speakers), width))

    folder.mkdir()
    names, genders = np.array(speakers), np.array(["f"] * len(speakers))
    widths = (VOICE_DIMENSION, len(F0_QUANTILES), len(PHONES))
    Pool(names, genders, rows(0), *map(rows, widths)).save(folder)
    return folder


def test_each_speaker_is_spoken_for_by_a_pool_that_lacks_him(tmp_path: Path) -> None:
    without_a, without_b = saved(tmp_path / "1", "b", "c"), saved(tmp_path / "2", "a", "c")
    found = unheard(VOICE, [without_a, without_b], ["a", "b", "stranger"])
    pools = {speaker: dict(spec.options)["pool"] for speaker, spec in found.items()}
    assert pools == {"a": str(without_a), "b": str(without_b), "stranger": str(without_a)}
    assert all(dict(spec.options)["prosody"] == 0.5 for spec in found.values())


def test_a_speaker_whom_every_pool_knows_stops_the_study_unnamed(tmp_path: Path) -> None:
    pool = saved(tmp_path / "1", "known-speaker")
    with pytest.raises(CorpusError) as error:
        unheard(VOICE, [pool], ["known-speaker"])
    assert "known-speaker" not in str(error.value)


def test_speakers_of_the_shipped_pool_are_counted() -> None:
    assert speakers_in_pool(VOICE, ["an4-fbbh", "nobody"]) == 1
    assert speakers_in_pool(read_spec("voice", "mcadams"), ["an4-fbbh"]) == 0
