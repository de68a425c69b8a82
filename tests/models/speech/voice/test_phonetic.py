"""Phonetic: no spectrum of the source passes, masked words are never said, and everything is keyed by the secret."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import AudioRef, Phone, Source, Span, Utterance, Word
from sottovoce.models.speech.audio import Speech, level, load
from sottovoce.models.speech.audio_refusals import AudioNotFinite
from sottovoce.models.speech.masked_words import mark
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.speech.voice import Voiced
from sottovoce.models.speech.voice.phonetic import Analysed, NothingToSay, PhonesMissing, Phonetic
from sottovoce.models.speech.voice.prosody import USUAL, PublicShares

pytestmark = pytest.mark.slow

SECRET, OTHER = Secret(b"sixteen bytes or more"), Secret(b"another key of a run")
TEXT = "pay anna now"
SOUNDS = ("P EY", "AE N AH", "N AW")


def aligned(sounds: tuple[str, ...] = SOUNDS, frames: int = 12, pause: int = 5) -> tuple[Word, ...]:
    words, at, begin = [], 20, 0
    for text, sound in zip(TEXT.split(), sounds, strict=True):
        phones = []
        for label in sound.split():
            phones.append(Phone(label, at / 100, (at + frames) / 100))
            at += frames
        words.append(Word(begin, begin + len(text), phones[0].begin_s, phones[-1].end_s, 1.0, tuple(phones)))
        begin += len(text) + 1
        at += pause
    return tuple(words)


def recording(seed: int = 0, seconds: float = 1.6, rate_hz: int = 16_000, loudness: float = 0.05) -> Speech:
    """A buzz whose pitch, level and colour move."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate_hz)) / rate_hz
    phase = 2 * np.pi * np.cumsum(rng.uniform(90, 220) * (1 + 0.1 * np.sin(3 * time))) / rate_hz
    sound = sum(np.sin(k * phase) / k ** rng.uniform(0.5, 2) for k in range(1, 12)) * (1.2 + np.sin(9 * time))
    sound += 0.05 * rng.standard_normal(len(time))
    return Speech((sound / level(sound) * loudness).astype(np.float32), rate_hz)


def utterance(spans: tuple[Span, ...] = (), name: str = "u", speaker_id: str | None = "s") -> Utterance:
    return Utterance(name, "d", 0, TEXT, Source("f", 1), speaker_id=speaker_id, spans=spans)


@pytest.fixture(scope="module")
def voice() -> Phonetic:
    member = Phonetic(prosody=0.5, nearest=1)
    member.setup()
    return set_to(member, nearest=0)


def set_to(voice: Phonetic, **options: object) -> Phonetic:
    """The same loaded models under other options."""
    other = replace(voice, **options)  # type: ignore[arg-type]
    other._parts.update(voice._parts)
    return other


def test_level_and_rate_are_kept_and_words_move_with_the_sound(voice: Phonetic) -> None:
    for rate_hz, loudness in ((8_000, 0.01), (44_100, 0.3)):
        source = recording(1, rate_hz=rate_hz, loudness=loudness)
        voiced = voice.transform(utterance(), source, aligned(), SECRET)
        assert voiced.speech.rate_hz == 16_000 and np.max(np.abs(voiced.speech.samples)) <= 1
        spoken = np.concatenate([cut(voiced, word) for word in voiced.words])
        assert level(spoken) == pytest.approx(loudness, rel=0.5)
        times = [time for word in voiced.words for time in (word.begin_s, word.end_s)]
        assert times == sorted(times) and times[-1] <= voiced.speech.duration_s
        assert [[p.label for p in word.phones] for word in voiced.words] == [sound.split() for sound in SOUNDS]


def cut(voiced: Voiced, word: Word) -> np.ndarray:
    return voiced.speech.samples[round(word.begin_s * 16_000) : round(word.end_s * 16_000)]


def test_at_1_two_recordings_of_the_same_phones_sound_the_same(voice: Phonetic) -> None:
    """Nothing of the sound passes but its loudness: not the spectrum, the pitch, the rhythm, the places of pauses."""
    alone, said = set_to(voice, prosody=1.0), (aligned(), aligned(frames=9, pause=15))
    one, two = (
        alone.transform(utterance(), recording(seed), words, SECRET).speech.samples for seed, words in enumerate(said)
    )
    np.testing.assert_allclose(one / level(one), two / level(two), atol=1e-3)


def test_versions_have_draws_of_their_own_and_the_ledger_says_what_links_them(voice: Phonetic) -> None:
    once, thrice = (set_to(voice, versions=count) for count in (1, 3))
    alone, several = (member.transform(utterance(), recording(), aligned(), SECRET) for member in (once, thrice))
    assert np.array_equal(alone.speech.samples, several.speech.samples) and len(several.others) == 2
    assert len({one.speech.samples.tobytes() for one in (several, *several.others)}) == 3
    (said,) = set(thrice.ledger().not_protected) - set(once.ledger().not_protected)
    assert "3 versions" in said and "text" in said and "add up" in said
    for options in ({"versions": 0}, {"versions": 2, "from_text": True}):
        with pytest.raises(SettingsError, match="versions"):
            Phonetic(**options)  # type: ignore[arg-type]


def test_of_stereo_and_of_music_under_the_words_only_the_words_come_through(voice: Phonetic, tmp_path: Path) -> None:
    alone, speech = set_to(voice, prosody=1.0), recording(1)
    seconds = np.arange(len(speech.samples)) / speech.rate_hz
    music = sum(np.sin(2 * np.pi * hertz * seconds) for hertz in (262, 330, 392)) * 0.02
    soundfile.write(tmp_path / "stereo.wav", np.stack([speech.samples, speech.samples + music], axis=1), speech.rate_hz)
    heard = load(AudioRef(str(tmp_path / "stereo.wav")), channel="right")
    assert heard.samples.ndim == 1
    plain, played = (alone.transform(utterance(), s, aligned(), SECRET).speech.samples for s in (speech, heard))
    np.testing.assert_allclose(plain / level(plain), played / level(played), atol=1e-3)


@pytest.mark.parametrize("prosody", [0.5, "departures"])
def test_below_1_and_with_departures_some_of_the_prosody_passes(voice: Phonetic, prosody: float | str) -> None:
    member = set_to(voice, prosody=prosody)
    one, two = (member.transform(utterance(), recording(seed), aligned(), SECRET).speech.samples for seed in (1, 2))
    shared = min(len(one), len(two))
    assert np.abs(one[:shared] / level(one) - two[:shared] / level(two)).max() > 0.1


DEFAULT: dict[str, Any] = {"prosody": None, "nearest": None}
FOLLOWED = {"prosody": "departures", "nearest": 16, "follow": "spectrum", "joins": 0.0, "depth": 1.0}
BY_PHONES = FOLLOWED | {"follow": "phones", "joins": 1.0}


def test_public_sounds_are_the_default_and_whoever_says_prosody_1_gets_nothing_of_the_source() -> None:
    assert Phonetic().sounds_drawn > 0 and Phonetic().public_shares == USUAL
    for options in ({"prosody": 1.0}, {"prosody": 0.5}, {"prosody": "departures"}, {"from_text": True}):
        assert Phonetic(**options).sounds_drawn == 0  # type: ignore[arg-type]
    assert Phonetic(prosody=1.0).public_shares == Phonetic(from_text=True).public_shares == PublicShares()
    assert Phonetic(prosody=1.0, nearest=8).sounds_drawn == 8
    told = Phonetic().ledger()
    assert told.parameters["nearest"] == Phonetic().sounds_drawn and told.parameters["rhythm"] == USUAL.rhythm


def test_by_default_rhythm_and_melody_are_public_and_only_the_choice_of_sounds_follows_the_source(
    voice: Phonetic,
) -> None:
    """Another recording moves no word by a frame."""
    member, said = set_to(voice, **DEFAULT), (aligned(), aligned(frames=9, pause=15))
    one, two = (member.transform(utterance(), recording(n), words, SECRET) for n, words in enumerate(said))
    assert [(w.begin_s, w.end_s) for w in one.words] == [(w.begin_s, w.end_s) for w in two.words]
    assert (
        np.abs(one.speech.samples / level(one.speech.samples) - two.speech.samples / level(two.speech.samples)).max()
        > 0.01
    )


def test_but_for_which_sounds_were_chosen_nothing_of_a_recording_passes_by_default(voice: Phonetic) -> None:
    """With nothing of the chosen sounds added, two recordings sound the same: no other way leads from the source to the sound."""
    alone, said = set_to(voice, **DEFAULT, depth=0.0), (aligned(), aligned(frames=9, pause=15))
    one, two = (
        alone.transform(utterance(), recording(n), words, SECRET).speech.samples for n, words in enumerate(said)
    )
    np.testing.assert_allclose(one / level(one), two / level(two), atol=1e-3)


def test_rhythm_passes_alone_where_it_alone_is_asked_for(voice: Phonetic) -> None:
    """Of two recordings that are said at other times words move, of two with other sound nothing does."""
    member, said = set_to(voice, prosody=1.0, rhythm=0.0), (aligned(), aligned(frames=9, pause=15))
    one, other, later_said = (
        member.transform(utterance(), recording(seed), words, SECRET)
        for seed, words in ((0, said[0]), (1, said[0]), (0, said[1]))
    )
    np.testing.assert_allclose(
        one.speech.samples / level(one.speech.samples), other.speech.samples / level(other.speech.samples), atol=1e-3
    )
    assert [(w.begin_s, w.end_s) for w in one.words] != [(w.begin_s, w.end_s) for w in later_said.words]


@pytest.mark.parametrize("options", [DEFAULT, {"prosody": 0.0}, {"prosody": 1.0, "rhythm": 0.0}, FOLLOWED, BY_PHONES])
def test_nothing_of_a_masked_word_is_in_the_sound(voice: Phonetic, options: dict[str, Any]) -> None:
    """Another word in its place, and other sound under it, change no sample of what is published."""
    spans = (Span(4, 8, "PERSON"),)
    plain, noisy = recording(1), recording(1)
    words, others = aligned(), aligned(("P EY", "B OW IY", "N AW"))
    name = slice(round(words[1].begin_s * 16_000), round(words[1].end_s * 16_000))
    noisy.samples[name] = np.random.default_rng(0).normal(0, 0.1, name.stop - name.start)
    member = set_to(voice, **options)
    one = member.transform(utterance(spans), plain, words, SECRET)
    two = member.transform(utterance(spans), noisy, others, SECRET)
    np.testing.assert_array_equal(one.speech.samples, two.speech.samples)
    assert level(cut(one, one.words[1])) < 0.1 * level(cut(one, one.words[0]))


def test_the_silence_does_not_tell_how_long_the_masked_word_was(voice: Phonetic) -> None:
    spans = (Span(4, 8, "PERSON"),)
    for sound in ("AA", "AE N AH B EH L"):
        words = voice.transform(
            utterance(spans), recording(seconds=2.5), aligned(("P EY", sound, "N AW")), SECRET
        ).words
        assert words[1].end_s - words[1].begin_s == pytest.approx(0.3, abs=0.011)


@pytest.mark.parametrize("options", [DEFAULT, {"prosody": 0.0}, FOLLOWED, BY_PHONES])
def test_not_even_the_length_of_a_masked_word_changes_a_sample(voice: Phonetic, options: dict[str, Any]) -> None:
    spans, words, speech = (Span(4, 8, "PERSON"),), aligned(), recording(1, seconds=2.0)
    inside = round(words[1].phones[1].begin_s * 16_000)
    longer = Speech(np.insert(speech.samples, inside, np.random.default_rng(0).normal(0, 0.1, 3_200)), 16_000)
    first, *rest = words[1].phones
    name = replace(words[1], phones=(first, *(later(phone) for phone in rest)), end_s=words[1].end_s + 0.2)
    after = replace(later(words[2]), phones=tuple(later(phone) for phone in words[2].phones))
    member = set_to(voice, **options)
    one = member.transform(utterance(spans), speech, words, SECRET)
    two = member.transform(utterance(spans), longer, (words[0], name, after), SECRET)
    np.testing.assert_array_equal(one.speech.samples, two.speech.samples)


def later(timed: Any) -> Any:
    return replace(timed, begin_s=timed.begin_s + 0.2, end_s=timed.end_s + 0.2)


def test_draws_are_keyed_by_secret_and_by_utterance_or_speaker(voice: Phonetic) -> None:
    def heard(member: Phonetic, name: str, secret: Secret = SECRET) -> bytes:
        return member.transform(utterance(name=name), recording(), aligned(), secret).speech.samples.tobytes()

    assert heard(voice, "a") == heard(voice, "a")
    assert heard(voice, "a") != heard(voice, "b")
    assert heard(voice, "a") != heard(voice, "a", OTHER)
    for assign, alike in (("speaker", True), ("utterance", False)):
        one, two = (drawn(set_to(voice, assign=assign), name) for name in "ab")
        assert np.array_equal(one, two) == alike


def drawn(member: Phonetic, name: str, *slice_number: str) -> np.ndarray:
    """The embedding of the pseudo-speaker of an utterance or slice."""
    heard = Analysed(utterance(name=name), recording(), np.zeros((0, 20)))
    return member._pseudo_speaker(heard, SECRET, *slice_number).embedding


def test_every_slice_has_a_voice_of_its_own(voice: Phonetic) -> None:
    slicer = Slicer(min_seconds=0.1)
    words = aligned(frames=20)
    member = set_to(voice, assign="slice", prosody=1.0)
    voiced = member.transform(utterance(), recording(seconds=3.0), words, SECRET, slices=slicer.groups)
    groups = slicer.groups(voiced.words, mark(TEXT, (), voiced.words))
    assert len(groups) == 3
    assert len({drawn(member, "u", str(number)).tobytes() for number in range(3)}) == 3
    whole = set_to(member, assign="utterance").transform(utterance(), recording(seconds=3.0), words, SECRET)
    assert np.abs(whole.speech.samples - voiced.speech.samples).max() > 0.01


def test_what_cannot_be_said_is_refused(voice: Phonetic) -> None:
    speech, words = recording(), aligned()
    broken = Speech(np.full_like(speech.samples, np.nan), 16_000)
    with pytest.raises(AudioNotFinite):
        voice.transform(utterance(), broken, words, SECRET)
    for missing in ((), tuple(replace(word, phones=()) for word in words)):
        with pytest.raises(PhonesMissing):
            voice.transform(utterance(), speech, missing, SECRET)
    with pytest.raises(NothingToSay):
        voice.transform(utterance((Span(0, len(TEXT), "ALL"),)), speech, words, SECRET)
    with pytest.raises(NothingToSay):
        voice.transform(utterance(), recording(seconds=0.05), words, SECRET)


@pytest.mark.parametrize(
    "samples",
    [np.zeros(16_000), np.sin(np.arange(16_000) / 5), np.sign(np.sin(np.arange(16_000) / 40))],
    ids=["silence", "pure tone", "clipped"],
)
def test_no_odd_input_comes_through_unchanged(voice: Phonetic, samples: np.ndarray) -> None:
    source = Speech(samples.astype(np.float32), 16_000)
    made = voice.transform(utterance(), source, aligned(), SECRET).speech.samples
    assert np.isfinite(made).all() and np.max(np.abs(made), initial=0) <= 1
    shared = min(len(made), len(samples))
    assert len(made) != len(samples) or np.abs(made[:shared] - samples[:shared]).max() > 0


@pytest.mark.parametrize(
    "options",
    [
        {"prosody": 1.2},
        {"rhythm": -0.1},
        {"prosody": "departures", "rhythm": 0.5},
        {"from_text": True, "loudness": 0.5},
        {"nearest": -1},
        {"drawn": 1},
        {"proximity": "near"},
    ],
)
def test_options_that_would_weaken_it_are_settings_errors(options: dict) -> None:
    with pytest.raises(SettingsError):
        Phonetic(**options)


def test_the_ledger_says_what_is_left_of_the_speaker() -> None:
    entry = Phonetic(prosody=0.25).ledger()
    assert entry.sound is None and "75 %" in entry.not_protected[0]
    alone = Phonetic(prosody=1.0, rhythm=0.5).ledger()
    assert "rhythm and pauses 50 %" in alone.not_protected[0] and "pitch" not in alone.not_protected[0]
    assert alone.parameters["melody"] == 1 and alone.parameters["rhythm"] == 0.5
    assert not any("rhythm" in line for line in Phonetic(prosody=1.0).ledger().not_protected)
    assert any("6.0 bits" in line for line in Phonetic(nearest=64, follow="spectrum").ledger().not_protected)
    (sounds,) = [line for line in Phonetic().ledger().not_protected if "a network hears" in line]
    assert "heard around" in sounds and "neighbours" in sounds
    assert "inside the utterance" in Phonetic(prosody="departures").ledger().not_protected[0]
