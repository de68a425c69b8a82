"""Where a sensitive word stood, a surrogate is said: of the old word neither sound nor length is left, text and sound agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Phone, Source, Span, Utterance, Word
from sottovoce.models.speech import chain
from sottovoce.models.speech.align.readings import TextNotPronounceable
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.lexicon import Lexicon
from sottovoce.models.speech.mask.surrogate import Surrogate
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice.phonetic import Phonetic
from sottovoce.pipelines.sanitize.job_file import read_job

RATE_HZ, SECRET = 16_000, Secret(b"sixteen bytes or more")
TEXT, SPAN = "call anna smith tomorrow", Span(5, 15, "PER")
SOUNDS = {"call": "K AO L", "anna": "AE N AH", "smith": "S M IH TH", "tomorrow": "T AH M AA R OW"}


def recorded(name_s: float = 0.1, loudness: float = 0.1, seed: int = 0) -> Spoken:
    """Each phone lasts a tenth of a second, those of the name `name_s`; under the name another noise lies."""
    rng, words, at_s, begin = np.random.default_rng(7), [], 0.2, 0
    samples = [rng.normal(0, 0.05, round(0.2 * RATE_HZ))]
    for text in TEXT.split():
        named = text in ("anna", "smith")
        phones = []
        for label in SOUNDS[text].split():
            long_s = name_s if named else 0.1
            source = np.random.default_rng(seed + 1) if named else rng
            samples.append(source.normal(0, loudness if named else 0.05, round(long_s * RATE_HZ)))
            phones.append(Phone(label, at_s, at_s + long_s))
            at_s += long_s
        words.append(Word(begin, begin + len(text), phones[0].begin_s, phones[-1].end_s, 1.0, tuple(phones)))
        begin += len(text) + 1
    samples.append(rng.normal(0, 0.05, round(0.2 * RATE_HZ)))
    utterance = Utterance("u", "d", 0, TEXT, Source("f", 1), spans=(SPAN,))
    return Spoken(utterance, Speech(np.concatenate(samples).astype(np.float32), RATE_HZ), tuple(words))


def drawn(new: str) -> list[Edit]:
    return [Edit(SPAN.begin, SPAN.end, new)]


def test_the_old_words_are_gone_from_text_and_sound_and_the_new_ones_stand_at_the_cut() -> None:
    before = recorded()
    after = Surrogate().respoken(before, drawn("maria de jones"))
    assert after.utterance.text == "call maria de jones tomorrow" and not after.utterance.spans
    assert [after.utterance.text[w.begin : w.end] for w in after.words] == after.utterance.text.split()
    assert after.speech.duration_s == pytest.approx(before.speech.duration_s - 0.7, abs=1e-3)
    kept = [(before.words[0], after.words[0]), (before.words[3], after.words[4])]
    for old, new in kept:
        one, two = (
            s.speech.samples[round(w.begin_s * RATE_HZ) : round(w.end_s * RATE_HZ)]
            for s, w in ((before, old), (after, new))
        )
        np.testing.assert_array_equal(one, two)
    lexicon = Lexicon.of(("maria", "de", "jones"))
    for word, text in zip(after.words[1:4], ("maria", "de", "jones"), strict=True):
        assert word.begin_s == word.end_s == pytest.approx(after.words[0].end_s)
        assert tuple(phone.label for phone in word.phones) == lexicon.pronunciations[text][0]


@pytest.mark.parametrize("other", [{"seed": 3}, {"loudness": 0.4}, {"name_s": 0.23}])
def test_neither_sound_nor_length_of_the_old_word_changes_a_sample_before_the_voice(other: dict) -> None:
    one, two = (Surrogate().respoken(spoken, drawn("bo")) for spoken in (recorded(), recorded(**other)))
    np.testing.assert_array_equal(one.speech.samples, two.speech.samples)
    for a, b in zip(one.words, two.words, strict=True):
        assert (a.begin, a.end, a.phones) == (
            b.begin,
            b.end,
            tuple(_near(x, y) for x, y in zip(b.phones, a.phones, strict=True)),
        )


def _near(one: Phone, other: Phone) -> Phone:
    assert one.begin_s == pytest.approx(other.begin_s) and one.end_s == pytest.approx(other.end_s)
    return other


def test_a_type_without_values_is_left_out_and_what_has_no_sound_is_refused() -> None:
    assert Surrogate().respoken(recorded(), drawn("[MISC]")).utterance.text == "call  tomorrow"
    with pytest.raises(TextNotPronounceable):
        Surrogate().respoken(recorded(), drawn("Ωμέγα"))


@pytest.mark.slow
@pytest.mark.parametrize("prosody", [1.0, 0.5, "departures"])
def test_the_voice_says_the_surrogate_and_nothing_of_the_name(prosody: float | str) -> None:
    """As many slices of the same length, whatever the name was: only the surrogate decides."""
    voice = Phonetic(prosody=prosody)  # type: ignore[arg-type]
    voice.setup()
    made = []
    for spoken in (recorded(), recorded(name_s=0.23, loudness=0.4, seed=5)):
        said = chain.voiced(voice, chain.masked(Surrogate(), spoken, lambda _: drawn("bob")), SECRET)
        (piece,) = chain.cut(Slicer(level_db=None), said)
        assert piece.text == "call bob tomorrow"
        name = said.words[1]
        sound = said.speech.samples[round(name.begin_s * RATE_HZ) : round(name.end_s * RATE_HZ)]
        assert 0.1 < name.end_s - name.begin_s < 1.0
        assert level(sound) > 0.2 * level(said.speech.samples)
        made.append(said.speech.samples)
    np.testing.assert_allclose(made[0], made[1], atol=2e-4)


@pytest.mark.slow
def test_an_utterance_of_nothing_but_a_name_is_said_too() -> None:
    whole = recorded()
    alone = replace(whole, utterance=replace(whole.utterance, spans=(Span(0, len(TEXT), "PER"),)))
    voice = Phonetic()
    voice.setup()
    edits = [Edit(0, len(TEXT), "maria jones")]
    said = chain.voiced(voice, chain.masked(Surrogate(), alone, lambda _: edits), SECRET)
    assert [piece.text for piece in chain.cut(Slicer(), said)] == ["maria jones"]
    assert level(said.speech.samples) > 0.01


@pytest.mark.parametrize(
    ("assignments", "said"),
    [
        ((), "replace: typed draws nothing"),
        (("replace=full", "voice=vtln"), "voice: vtln does not"),
        (("replace=full", "audio.align_on=anonymised"), "align_on: must be original"),
        (("replace={use: full, values: corpus, target_epsilon: 1.0}",), "must be public"),
    ],
)
def test_a_job_that_cannot_say_surrogates_is_refused_at_once(assignments: tuple[str, ...], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_job(None, ("mask=surrogate", *assignments))


def test_the_mask_comes_before_the_voice() -> None:
    job = read_job(None, ("mask=surrogate", "replace=full"))
    assert chain.masks_first(job.specs["mask"]) and not chain.masks_first(read_job(None, ()).specs["mask"])
    steps = chain.order("original", mask_first=True)
    assert steps.index("align") < steps.index("mask") < steps.index("voice")
