"""A word whose mask lies beside it is heard; a word under its mask is not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.records import AudioRef, Phone, Span, Word
from sottovoce.models.speech.audio import Speech, load
from sottovoce.models.speech.mask.fill import Noise, Silence, Tone
from sottovoce.models.speech.masked_words import MaskedWords, mark
from sottovoce.models.speech.recognise import StillHeard, refuse_if_heard
from sottovoce.models.speech.recognise.nobody import Nobody
from sottovoce.models.speech.recognise.pocketsphinx import PocketSphinxListener, SoundUnknown, with_background
from sottovoce.models.speech.recognise.recognisers import Moonshine, Vosk, written_again

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[4] / "examples" / "demo"
TEXT = "please send the parcel to carolina tomorrow morning"


@pytest.fixture(scope="module")
def spoken() -> tuple[Speech, tuple[Word, ...], MaskedWords]:
    """Known times from flite, phones included, so that no aligner is needed."""
    from sottovoce.models.evaluation.known_answers.word_times import ProgramMissing, speak_flite

    try:
        known = speak_flite(TEXT.split(), "slt")
    except ProgramMissing as missing:
        pytest.skip(str(missing))
    words = tuple(dataclasses.replace(w, phones=tuple(_arpabet(p) for p in w.phones)) for w in known.words)
    begin = TEXT.index("carolina")
    return known.speech, words, mark(TEXT, [Span(begin, begin + 8, "PER")], words)


def _arpabet(phone: Phone) -> Phone:
    names = {"ax": "AH", "axr": "ER"}
    return dataclasses.replace(phone, label=names.get(phone.label, phone.label.upper()))


@pytest.fixture(scope="module")
def listener() -> PocketSphinxListener:
    member = PocketSphinxListener()
    member.setup()
    return member


@pytest.mark.parametrize("masker", [Silence(), Tone(), Noise()], ids=lambda m: type(m).__name__)
def test_a_word_under_its_mask_is_not_heard(spoken, listener: PocketSphinxListener, masker: Silence) -> None:
    speech, words, masked = spoken
    quiet = masker.mask(speech, masked.stretches)
    assert listener.heard(quiet, TEXT, words, masked) == frozenset()
    refuse_if_heard(listener, quiet, TEXT, words, masked)


@pytest.mark.parametrize("shift_s", [-0.8, 0.5])
def test_a_word_beside_its_mask_is_heard(spoken, listener: PocketSphinxListener, shift_s: float) -> None:
    speech, words, masked = spoken
    moved = dataclasses.replace(masked, stretches=tuple((b + shift_s, e + shift_s) for b, e in masked.stretches))
    quiet = Silence().mask(speech, moved.stretches)
    assert listener.heard(quiet, TEXT, words, moved) == masked.indices
    with pytest.raises(StillHeard):
        refuse_if_heard(listener, quiet, TEXT, words, moved)


def test_words_without_phones_are_pronounced_from_the_text(spoken, listener: PocketSphinxListener) -> None:
    speech, words, masked = spoken
    bare = [dataclasses.replace(word, phones=()) for word in words]
    assert listener.heard(speech, TEXT, bare, dataclasses.replace(masked, stretches=())) == masked.indices


def test_letters_of_a_ctc_model_are_not_taken_for_phones(spoken, listener: PocketSphinxListener) -> None:
    speech, words, masked = spoken
    spelled = [dataclasses.replace(w, phones=tuple(Phone(c.upper(), 0, 1) for c in "the")) for w in words]
    assert listener.heard(speech, TEXT, spelled, dataclasses.replace(masked, stretches=())) == masked.indices


def test_a_removed_word_whose_sound_nobody_knows_is_refused_and_a_kept_one_is_not(
    spoken, listener: PocketSphinxListener
) -> None:
    speech, words, masked = spoken
    bare = [dataclasses.replace(word, phones=()) for word in words]
    quiet = Silence().mask(speech, masked.stretches)
    with pytest.raises(SoundUnknown):
        listener.heard(quiet, TEXT.replace("carolina", "55501992"), bare, masked)
    assert not listener.heard(quiet, TEXT.replace("parcel", "471183"), bare, masked)


def test_nothing_removed_needs_no_listening(spoken) -> None:
    speech, words, _ = spoken
    refuse_if_heard(PocketSphinxListener(), speech, TEXT, words, MaskedWords(frozenset(), (), ()))
    assert Nobody().heard(speech, TEXT, words, MaskedWords(frozenset({0}), (), ())) == frozenset()
    assert "Nobody" in Nobody().ledger().says


def test_masks_are_filled_with_the_background_and_the_rest_stays() -> None:
    rng = np.random.default_rng(0)
    samples = rng.normal(0, 0.001, 32_000)
    samples[8_000:16_000] += rng.normal(0, 0.1, 8_000)
    samples[20_000:24_000] = 0.0
    filled = with_background(samples, [(0.5, 1.0)])
    assert np.array_equal(filled[:7_900], samples[:7_900])
    assert 0.0005 < np.std(filled[8_100:15_900]) < 0.002 and 0.0005 < np.std(filled[20_100:23_900]) < 0.002


@pytest.mark.parametrize(
    "written, heard",
    [
        ("please send the parcel to tomorrow morning", False),
        ("please send the parcel to carolina tomorrow morning", True),
        ("Please send the parcel to Karolina, tomorrow morning.", True),
        ("please send a parcel to the morning", False),
        ("", False),
    ],
)
def test_what_a_recogniser_writes_counts_only_if_the_kept_text_does_not_explain_it(written: str, heard: bool) -> None:
    words = tuple(Word(m, m + len(w), 0, 1, 1.0) for w in TEXT.split() for m in [TEXT.index(w)])
    masked = mark(TEXT, [Span(TEXT.index("carolina"), TEXT.index("carolina") + 8, "PER")], words)
    assert bool(written_again(written, TEXT, words, masked, tolerance=0.25)) == heard


@pytest.mark.slow
def test_moonshine_hears_a_word_without_its_mask_and_not_under_it(spoken) -> None:
    pytest.importorskip("moonshine_voice", reason="pip install 'sottovoce[asr]'")
    speech, words, masked = spoken
    member = Moonshine()
    member.setup()
    assert member.heard(Silence().mask(speech, masked.stretches), TEXT, words, masked) == frozenset()
    assert member.heard(speech, TEXT, words, masked) == masked.indices


def test_what_moonshine_writes_does_not_depend_on_what_it_heard_before() -> None:
    """Voice activity that outlives its recording wrote "You My name is ..." for a text that then fitted no speech."""
    pytest.importorskip("moonshine_voice", reason="pip install 'sottovoce[asr]'")
    member = Moonshine()
    member.setup()
    first, second = (load(AudioRef(str(DEMO / "audio" / f"bank-0{name}.flac"))) for name in ("2-4", "2-5"))
    alone = member.transcribe(second)
    member.transcribe(first)
    assert member.transcribe(second) == alone == "Yes, please do it on Friday."


def test_a_folder_without_a_model_is_named() -> None:
    pytest.importorskip("vosk", reason="pip install 'sottovoce[asr]'")
    with pytest.raises(RunError, match="nowhere"):
        Vosk(model="nowhere").setup()


def test_settings_out_of_range_are_refused() -> None:
    for make in (
        lambda: PocketSphinxListener(prior=0.0),
        lambda: PocketSphinxListener(min_frames=0),
        lambda: PocketSphinxListener(fit_floor=1.0),
        lambda: Moonshine(tolerance=2.0),
        lambda: Vosk(model=""),
    ):
        with pytest.raises(SettingsError):
            make()
