"""The whole way of speech with the voice that makes it anew: masked words exist nowhere, slices have nothing in common."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sottovoce.models.audio import Speech
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.slice import Slice
from sottovoce.models.spoken import Spoken
from sottovoce.models.voice.pseudo_speaker import PseudoSpeakers
from sottovoce.pipelines.job_file import read_job
from sottovoce.pipelines.speech_chain import SpeechChain, chain_of

TEXT = "please send the parcel to carolina fernandez tomorrow morning before nine"
NAME = "carolina fernandez"
FADE_S = 0.006


@pytest.fixture(scope="module")
def chain() -> SpeechChain:
    made = chain_of(read_job(None, ["voice={use: phonetic, assign: slice}", "slice.min_seconds=1"]), Secret(b"7" * 32))
    made.setup()
    return made


@pytest.fixture(scope="module")
def aligned(chain: SpeechChain) -> Spoken:
    from sottovoce.models.align.known_times import ProgramMissing, speak_flite

    try:
        speech = speak_flite(TEXT.split(), "slt").speech
    except ProgramMissing as missing:
        pytest.skip(str(missing))
    begin = TEXT.index(NAME)
    spans = (Span(begin, begin + len(NAME), "PER"),)
    return chain.align(Utterance("u", "d", 0, TEXT, Source("f", 1), spans=spans), speech)


@pytest.mark.slow
def test_what_was_heard_of_a_masked_word_has_no_influence_on_what_is_spoken(
    chain: SpeechChain, aligned: Spoken
) -> None:
    samples, rate_hz = aligned.speech.samples.copy(), aligned.speech.rate_hz
    name = [word for word in aligned.words if TEXT[word.begin : word.end] in NAME.split()]
    inside = slice(round(name[0].begin_s * rate_hz), round(name[-1].end_s * rate_hz))
    samples[inside] = np.random.default_rng(0).uniform(-0.5, 0.5, len(samples[inside]))
    other = chain.hush(dataclasses.replace(aligned, speech=Speech(samples, rate_hz)))
    assert np.array_equal(chain.hush(aligned).speech.samples, other.speech.samples)


@pytest.mark.slow
def test_a_mask_over_words_that_were_never_spoken_takes_nothing_of_their_neighbours(
    chain: SpeechChain, aligned: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[Speech] = []
    mask = chain.masker.mask
    watched = dataclasses.replace(
        chain, masker=_Watched(chain.masker.guard_ms, lambda s, t: spoken.append(s) or mask(s, t))
    )
    hushed = watched.hush(aligned)
    before, after = spoken[0].samples, hushed.speech.samples
    name = [word for word in hushed.words if TEXT[word.begin : word.end] in NAME.split()]
    rate_hz = hushed.speech.rate_hz
    begin, end = round((name[0].begin_s - FADE_S) * rate_hz), round((name[-1].end_s + FADE_S) * rate_hz)
    assert np.array_equal(before[:begin], after[:begin]) and np.array_equal(before[end:], after[end:])


@dataclasses.dataclass
class _Watched:
    guard_ms: float
    mask: object


@pytest.mark.slow
def test_each_slice_has_a_pseudo_speaker_of_its_own(
    chain: SpeechChain, aligned: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    draw = PseudoSpeakers.draw

    def watched(self: PseudoSpeakers, *args: object, **options: object) -> np.ndarray:
        weights = draw(self, *args, **options)  # type: ignore[arg-type]
        drawn.append(tuple(weights))
        return weights

    monkeypatch.setattr(PseudoSpeakers, "draw", watched)
    slices = chain.cut(chain.hush(aligned))
    assert len(slices) >= 2 and len(set(drawn)) >= len(slices)
    assert not any(part in piece.text for piece in slices for part in NAME.split())
    gapped = dataclasses.replace(chain, slicer=dataclasses.replace(chain.slicer, drop_words=1))
    assert _words_in(gapped.cut(gapped.hush(aligned))) < _words_in(slices)


def _words_in(slices: list[Slice]) -> int:
    return sum(len(piece.text.split()) for piece in slices)
