"""Attacker: gives the operator a corpus of small files that are large once they are read, or never end.

What he wins is that the operator's machine stops: memory without bound for a few kilobytes, or a read that waits for ever.
"""

from __future__ import annotations

import contextlib
import os
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from adversary import weakened

from sottovoce.models.errors import Refusal
from sottovoce.models.records import AudioRef
from sottovoce.models.speech import audio
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.transforms.read.corpus import OpenAudio

WAIT_S = 2.0  # a build that waits does so for ever


def many_channels(folder: Path) -> Path:
    """Twenty seconds of nothing, in eight channels at 384 kHz."""
    path = folder / "bomb.flac"
    soundfile.write(path, np.zeros((20 * 384_000, 8), np.int16), 384_000, format="FLAC", subtype="PCM_16")
    return path


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "bomb.wav")
    return folder / "bomb.wav"


def read(path: Path) -> None:
    with contextlib.suppress(Refusal):
        audio.load(AudioRef(str(path)), OpenAudio(AudioRoots((str(path.parent),))))


def attack(plant: Callable[[Path], Path], folder: Path) -> tuple[float, bool]:
    """(bytes of memory for each byte of the file, whether the reader is still waiting)"""
    path = plant(folder)
    tracemalloc.start()
    reader = threading.Thread(target=read, args=(path,), daemon=True)
    reader.start()
    reader.join(WAIT_S if plant is pipe else None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    waits = reader.is_alive()
    if waits:  # let it go: somebody opens the other end
        os.close(os.open(path, os.O_WRONLY))
        reader.join()
    return peak / max(path.stat().st_size, 1), waits


def plain_open(path: str):
    return open(path, "rb")


WITHOUT = {
    many_channels: {
        "sottovoce.models.speech.audio_decoding:MAX_SAMPLES": 1 << 40,
        "sottovoce.models.speech.audio_decoding:BLOCK_SAMPLES": 1 << 40,
    },
    pipe: {"sottovoce.transforms.read.corpus:open_regular": plain_open},
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", WITHOUT)
def test_a_build_without_bounds_is_brought_down_by_small_files(plant, tmp_path):
    with weakened("the bounds of reading", WITHOUT[plant]):
        grown, waits = attack(plant, tmp_path)
    assert waits or grown > 1000


@pytest.mark.parametrize("plant", WITHOUT)
def test_ours_refuses_them_at_the_cost_of_a_header(plant, tmp_path):
    grown, waits = attack(plant, tmp_path)
    assert not waits and (plant is pipe or grown < 20)
