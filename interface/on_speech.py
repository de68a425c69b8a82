"""What the speech stages do, to one recording: another voice without the sensitive words, or the words masked alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.keys import Key, secret_of
from sottovoce.models.errors import SettingsError
from sottovoce.models.records import AudioRef, Source, Span, Utterance
from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.speech import chain
from sottovoce.models.speech.audio import Speech, load, resample, within_range
from sottovoce.models.speech.masked_words import text_between
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.word_list import WordList, chosen
from sottovoce.on_text import Member, detect
from sottovoce.transforms.engine import members

RATE_HZ = 16_000  # of what comes out, as in the job file that ships
Audio = str | os.PathLike[str] | tuple[np.ndarray, int]  # a file, or (samples of one channel, samples per second)


@dataclass(frozen=True)
class Recording:
    """Speech without its sensitive words. `words` that are left: (text, begin_s, end_s); `masked_s`: where others were."""

    samples: np.ndarray  # one channel, float32 in [-1, 1]
    rate_hz: int
    text: str
    words: tuple[tuple[str, float, float], ...]
    masked_s: tuple[tuple[float, float], ...]

    @property
    def duration_s(self) -> float:
        """The length in seconds of what came out: a changed voice may speak faster or slower than the original."""
        return len(self.samples) / self.rate_hz

    def save(self, path: str | os.PathLike[str]) -> None:
        """As the ending of the name says: .wav, .flac, .ogg."""
        import soundfile

        soundfile.write(os.fspath(path), self.samples, self.rate_hz)


def anonymise(
    audio: Audio,
    text: str,
    *,
    voice: Member = "phonetic",
    detector: Member = "default",
    aligner: Member = "pocketsphinx",
    masker: Member = "silence",
    listener: Member = "pocketsphinx",
    secret: Key = None,
    language: str | None = None,
) -> Recording:
    """The recording in another voice and without its sensitive words, or a Refusal: align, change the voice, mask, listen.

    `text` is what is said. The new voice is drawn by `secret`: without one, each call draws another.

    >>> made = anonymise("examples/demo/audio/travel-02-4.flac", "book it for ingrid solberg")
    >>> made.text, made.rate_hz, len(made.masked_s)
    ('book it for', 16000, 1)
    """
    spoken = _spoken(audio, text, detect(text, detector=detector, language=language or ENGLISH), language)
    key = secret_of(secret)
    specs: dict[str, tuple[Spec, Callable[[Any, Spoken], Spoken]]] = {
        "align": (read_spec("align", aligner), chain.aligned),
        "voice": (read_spec("voice", voice), lambda member, one: chain.voiced(member, one, key)),
        "mask": (read_spec("mask", masker), chain.masked),
        "relisten": (read_spec("relisten", listener), chain.checked),
    }
    return _run([specs[name] for name in chain.order("original") if name in specs], spoken)


def mask(
    audio: Audio,
    text: str,
    *,
    words: Sequence[str] = (),
    types: Sequence[str] = (),
    detector: Member = "default",
    aligner: Member = "pocketsphinx",
    masker: Member = "silence",
    listener: Member = "pocketsphinx",
    language: str | None = None,
) -> Recording:
    """The recording without chosen words, in its own voice: `words` and phrases, or whatever is found of `types` ("all").

    >>> made = mask("examples/demo/audio/travel-02-4.flac", "book it for ingrid solberg", words=["ingrid solberg"])
    >>> made.text, len(made.masked_s)
    ('book it for', 1)
    """
    if not words and not types:
        raise SettingsError(["nothing to mask: give words or types"])
    if isinstance(words, str) or isinstance(types, str):
        raise SettingsError(['words and types: expected lists, such as ["anna"] and ["PER"]'])
    found = detect(text, detector=detector, language=language or ENGLISH) if types else []
    spans = [*chosen(found, None if "all" in types else types), *WordList(tuple(words)).spans(text)]
    specs = ((aligner, "align", chain.aligned), (masker, "mask", chain.masked), (listener, "relisten", chain.checked))
    return _run(
        [(read_spec(family, member), act) for member, family, act in specs], _spoken(audio, text, spans, language)
    )


def _spoken(audio: Audio, text: str, spans: Sequence[Span], language: str | None) -> Spoken:
    utterance = Utterance("", "", 0, text, Source("", 0), language=language, spans=tuple(spans))
    if isinstance(audio, tuple):
        samples, rate_hz = audio
        if np.ndim(samples) != 1:
            raise SettingsError([f"audio: expected samples of one channel, not an array of {np.ndim(samples)} axes"])
        speech = Speech(within_range(np.asarray(samples, dtype=np.float32)), rate_hz)
    else:
        speech = load(AudioRef(os.fspath(audio)))
    return Spoken(utterance, resample(speech, RATE_HZ))


def _run(steps: Sequence[tuple[Spec, Callable[[Any, Spoken], Spoken]]], spoken: Spoken) -> Recording:
    for spec, act in steps:
        loaded = members.load(spec)
        with loaded.lock:
            spoken = act(loaded.member, spoken)
    text, masked = spoken.utterance.text, spoken.masked
    assert masked is not None
    kept = [word for index, word in enumerate(spoken.words) if index not in masked.indices]
    return Recording(
        samples=spoken.speech.samples,
        rate_hz=spoken.speech.rate_hz,
        text=text_between(text, 0, len(text), masked.removed),
        words=tuple((text[word.begin : word.end], round(word.begin_s, 3), round(word.end_s, 3)) for word in kept),
        masked_s=masked.stretches,
    )
