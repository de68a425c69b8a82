"""The CTC path is exact; words stand where the letters peak; any Hugging Face CTC model can be put in."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import Refusal, SettingsError
from sottovoce.models.speech.align.ctc import Ctc
from sottovoce.models.speech.align.ctc_trellis import best_paths
from sottovoce.models.speech.align.readings import TextNotPronounceable
from sottovoce.models.speech.align.refusals import AlignmentFailed, AlignmentMismatch, LanguageNotAligned
from sottovoce.models.speech.audio import Speech

LETTERS = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz'ü"]
BLANK = 0


def collapsed(path: tuple[int, ...]) -> list[int]:
    return [label for label, _ in itertools.groupby(path) if label != BLANK]


def by_brute_force(scores: torch.Tensor, labels: list[int]) -> float:
    time, size = scores.shape
    totals = [
        sum(scores[t, label].item() for t, label in enumerate(path))
        for path in itertools.product(range(size), repeat=time)
        if collapsed(path) == labels
    ]
    return max(totals, default=float("-inf"))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_path_is_the_best_of_all_paths_for_every_item_of_a_batch(data: st.DataObject) -> None:
    time, size = 6, 3
    count = data.draw(st.integers(1, 4))
    labels = [data.draw(st.lists(st.integers(1, size - 1), min_size=1, max_size=4)) for _ in range(count)]
    frames = [data.draw(st.integers(1, time)) for _ in range(count)]
    torch.manual_seed(data.draw(st.integers(0, 10_000)))
    scores = torch.log_softmax(torch.randn(count, time, size) * 2, dim=-1)
    paths, totals = best_paths(scores, frames, labels, BLANK)
    for row in range(count):
        expected = by_brute_force(scores[row, : frames[row]], labels[row])
        assert totals[row] == pytest.approx(expected, abs=1e-4)
        if expected > float("-inf"):
            symbols = tuple(labels[row][state // 2] if state % 2 else BLANK for state in paths[row])
            assert len(symbols) == frames[row] and collapsed(symbols) == labels[row]
        else:
            assert paths[row] == []


def aligner(**options: object) -> Ctc:
    """An aligner with an alphabet and no network: its posteriors are handed in."""
    member = Ctc(model="made-up", **options)  # type: ignore[arg-type]
    member._vocabulary = {letter: index for index, letter in enumerate(LETTERS)}
    return member


def posteriors(written: str, frames_per_letter: int = 5) -> torch.Tensor:
    """Each letter peaks in the middle of its frames; blanks elsewhere."""
    scores = torch.full((len(written) * frames_per_letter, len(LETTERS)), 0.01)
    for index, letter in enumerate(written):
        at = index * frames_per_letter
        scores[at : at + frames_per_letter, BLANK] = 1.0
        scores[at + 2, BLANK] = 0.01
        scores[at + 2, LETTERS.index("|" if letter == " " else letter)] = 1.0
    return torch.log(scores / scores.sum(dim=-1, keepdim=True))


def silence(seconds: float) -> Speech:
    return Speech(np.zeros(round(seconds * 16_000), np.float32), 16_000)


def test_words_stand_where_their_letters_peak() -> None:
    words = aligner(reach_s=0.0)._words(posteriors("call john"), silence(0.9), "Call John!", None)
    assert [(word.begin, word.end) for word in words] == [(0, 4), (5, 9)]
    assert [(word.begin_s, word.end_s) for word in words] == [pytest.approx((0.04, 0.36)), pytest.approx((0.54, 0.86))]
    assert [phone.label for phone in words[1].phones] == list("john")
    assert min(word.confidence for word in words) > 0.9


def test_a_word_takes_half_of_the_gap_at_most() -> None:
    wide = aligner(reach_s=0.5)._words(posteriors("call john"), silence(0.9), "call john", None)
    assert (
        wide[0].end_s == pytest.approx(wide[1].begin_s) and wide[0].begin_s == 0 and wide[1].end_s == pytest.approx(0.9)
    )


@pytest.mark.parametrize("said", ["eight oh seven", "eight hundred seven", "eight hundred and seven"])
def test_of_several_readings_the_one_that_was_said_is_taken(said: str) -> None:
    said = said.replace("oh", "zero")
    words = aligner()._words(posteriors(f"room {said} now"), silence(2.0), "room 807 now", None)
    assert len(words) == 3 and words[1].confidence > 0.9


def test_accents_are_kept_where_the_model_knows_them_and_folded_where_not() -> None:
    assert aligner()._words(posteriors("müller cafe"), silence(1.0), "Müller café", None)
    with pytest.raises(TextNotPronounceable):
        aligner()._words(posteriors("hotel"), silence(1.0), "東京", None)


def test_another_text_is_refused_and_so_is_too_much_text() -> None:
    with pytest.raises(AlignmentMismatch):
        aligner()._words(posteriors("play some music"), silence(1.0), "call john now", None)
    with pytest.raises(AlignmentFailed):
        aligner()._words(posteriors("ab"), silence(1.0), "a very long text that does not fit", None)


def test_a_language_the_model_does_not_know_is_refused() -> None:
    with pytest.raises(LanguageNotAligned):
        aligner(languages=("de",))._words(posteriors("hallo"), silence(1.0), "hallo", "fr-FR")
    assert aligner(languages=("de",))._words(posteriors("hallo"), silence(1.0), "hallo", "de_AT")


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    from transformers import Wav2Vec2Config, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    folder = tmp_path_factory.mktemp("wav2vec2")
    (folder / "vocab.json").write_text(json.dumps({letter: index for index, letter in enumerate(LETTERS)}))
    Wav2Vec2CTCTokenizer(str(folder / "vocab.json")).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(folder)
    torch.manual_seed(0)
    config = Wav2Vec2Config(
        vocab_size=len(LETTERS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(16,) * 7,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        feat_extract_norm="layer",
        pad_token_id=BLANK,
    )
    Wav2Vec2ForCTC(config).save_pretrained(folder)
    return str(folder)


@pytest.mark.slow
def test_a_wav2vec2_model_is_loaded_by_path_and_aligns_a_batch(tiny_model: str) -> None:
    member = Ctc(model=tiny_model, floor=-99.0, word_floor=-99.0)
    member.setup()
    rng = np.random.default_rng(0)
    long = Speech(rng.normal(0, 0.1, 32_000).astype(np.float32), 16_000)
    short = Speech(rng.normal(0, 0.1, 7_000).astype(np.float32), 8_000)
    items = [(long, "call john at 7:30", None), (short, "hello there", None), (short, "東京", None)]
    first, second, third = member.align_many(items)
    assert isinstance(third, Refusal) and not isinstance(first, Refusal) and not isinstance(second, Refusal)
    for words, speech in ((first, long), (second, short)):
        times = [time for word in words for time in (word.begin_s, word.end_s)]
        assert times == sorted(times) and times[0] >= 0 and times[-1] <= speech.duration_s
    alone = member.align(long, "call john at 7:30")
    assert [word.begin_s for word in alone] == pytest.approx([word.begin_s for word in first], abs=0.05)


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"model": ""}, {"model": "x", "floor": 1.0}, {"model": "x", "reach_s": 9.0}):
        with pytest.raises(SettingsError):
            Ctc(**wrong)  # type: ignore[arg-type]
