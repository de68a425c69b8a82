"""The whole way of speech with the voice that makes it anew: masked words exist nowhere, slices have nothing in common."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance, Word
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.chain import SpeechChain, VoiceUnchanged
from sottovoce.models.speech.recognise import StillHeard
from sottovoce.models.speech.slice import Slice, Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice import Voiced
from sottovoce.models.speech.voice.pseudo_speaker import PseudoSpeakers

TEXT = "please send the parcel to carolina fernandez tomorrow morning before nine"
NAME = "carolina fernandez"
FADE_S = 0.006
MEMBERS = {"align": "pocketsphinx", "voice": "phonetic", "mask": "silence", "relisten": "pocketsphinx"}


@pytest.fixture(scope="module")
def chain() -> SpeechChain:
    made = SpeechChain(
        *(Spec(family, name).make() for family, name in MEMBERS.items()), Slicer(min_seconds=1), Secret(b"7" * 32)
    )
    made.setup()
    return made


@pytest.fixture(scope="module")
def aligned(chain: SpeechChain) -> Spoken:
    from sottovoce.models.evaluation.known_answers.word_times import ProgramMissing, speak_flite

    try:
        speech = speak_flite(TEXT.split(), "slt").speech
    except ProgramMissing as missing:
        pytest.skip(str(missing))
    begin = TEXT.index(NAME)
    spans = (Span(begin, begin + len(NAME), "PER"),)
    return chain.align(Spoken(Utterance("u", "d", 0, TEXT, Source("f", 1), spans=spans), speech))


@pytest.mark.slow
def test_what_was_heard_of_a_masked_word_has_no_influence_on_what_is_spoken(
    chain: SpeechChain, aligned: Spoken
) -> None:
    samples, rate_hz = aligned.speech.samples.copy(), aligned.speech.rate_hz
    name = [word for word in aligned.words if TEXT[word.begin : word.end] in NAME.split()]
    inside = slice(round(name[0].begin_s * rate_hz), round(name[-1].end_s * rate_hz))
    samples[inside] = np.random.default_rng(0).uniform(-0.5, 0.5, len(samples[inside]))
    other = chain.protected(dataclasses.replace(aligned, speech=Speech(samples, rate_hz)))
    assert np.array_equal(chain.protected(aligned).speech.samples, other.speech.samples)


@pytest.mark.slow
def test_a_mask_over_words_that_were_never_spoken_takes_nothing_of_their_neighbours(
    chain: SpeechChain, aligned: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[Speech] = []
    mask = chain.masker.mask
    watched = dataclasses.replace(
        chain, masker=_Watched(chain.masker.guard_ms, lambda s, t: spoken.append(s) or mask(s, t))
    )
    protected = watched.protected(aligned)
    before, after = spoken[0].samples, protected.speech.samples
    rate_hz, kept = protected.speech.rate_hz, np.ones(len(after), bool)
    for word in (protected.words[index] for index in protected.masked.indices):
        kept[round((word.begin_s - FADE_S) * rate_hz) : round((word.end_s + FADE_S) * rate_hz)] = False
    assert kept.mean() > 0.5 and np.array_equal(before[kept], after[kept])


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
    slices = chain.cut(chain.protected(aligned))
    assert len(slices) >= 2 and len(set(drawn)) >= len(slices)
    assert not any(part in piece.text for piece in slices for part in NAME.split())
    gapped = dataclasses.replace(chain, slicer=dataclasses.replace(chain.slicer, drop_words=1))
    assert _words_in(gapped.cut(gapped.protected(aligned))) < _words_in(slices)


def _words_in(slices: list[Slice]) -> int:
    return sum(len(piece.text.split()) for piece in slices)


class _Recorded:
    """Every member of the chain in one: it notes who is asked, and says words that are there."""

    guard_ms = 0.0

    def __init__(self, change: float = 0.5, heard: bool = False, heard_again: bool = False) -> None:
        self.asked: list[str] = []
        self._change, self._heard, self._heard_again = change, heard, heard_again

    def setup(self) -> None:
        self.asked.append("setup")

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        self.asked.append("align")
        return tuple(Word(begin, begin + 4, at, at + 0.4, 1.0) for at, begin in ((0.1, 0), (0.5, 5)))

    def transform(self, utterance, speech, words, secret, slices=None) -> Voiced:  # type: ignore[no-untyped-def]
        self.asked.append("voice")
        return Voiced(Speech(speech.samples * self._change, speech.rate_hz), tuple(words))

    def mask(self, speech: Speech, stretches: object) -> Speech:
        self.asked.append("mask")
        return speech

    def heard(self, speech: Speech, text: str, words: object, masked: object) -> frozenset[int]:
        again = "relisten" in self.asked
        self.asked.append("relisten")
        return frozenset({0}) if self._heard or (again and self._heard_again) else frozenset()


class _Twice(_Recorded):
    """A voice that says an utterance in two versions."""

    def transform(self, utterance, speech, words, secret, slices=None) -> Voiced:  # type: ignore[no-untyped-def]
        first = super().transform(utterance, speech, words, secret)
        return dataclasses.replace(first, others=(super().transform(utterance, speech, words, secret),))


def _run(member: _Recorded, align_on: str = "original") -> list[Slice]:
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, 16_000).astype(np.float32)
    utterance = Utterance("u", "d", 0, "call anna", Source("f", 1), spans=(Span(5, 9, "PER"),))
    chain = SpeechChain(*[member] * 4, Slicer(), Secret(b"7" * 32), align_on)  # type: ignore[arg-type]
    return chain.run(Spoken(utterance, Speech(noise, 16_000)))


@pytest.mark.parametrize(("align_on", "first"), [("original", ["align", "voice"]), ("anonymised", ["voice", "align"])])
def test_the_chain_aligns_where_the_job_says(align_on: str, first: list[str]) -> None:
    member = _Recorded()
    slices = _run(member, align_on)
    assert member.asked == [*first, "mask", "relisten"] and [piece.text for piece in slices] == ["call"]


def test_a_voice_that_changes_nothing_is_refused() -> None:
    with pytest.raises(VoiceUnchanged):
        _run(_Recorded(change=1.0))


def test_a_word_that_is_still_heard_is_refused() -> None:
    with pytest.raises(StillHeard):
        _run(_Recorded(heard=True))


@pytest.mark.parametrize("align_on", ["original", "anonymised"])
def test_every_version_of_an_utterance_is_masked_and_listened_to(align_on: str) -> None:
    member = _Twice()
    slices = _run(member, align_on)
    assert member.asked.count("mask") == member.asked.count("relisten") == 2
    assert [piece.text for piece in slices] == ["call", "call"]
    with pytest.raises(StillHeard):
        _run(_Twice(heard_again=True))
