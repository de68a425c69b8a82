"""Words placed by Whisper: what can be told without its weights. tests/pipelines/sanitize/test_german_speech.py runs it."""

from types import SimpleNamespace

import numpy as np
import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.settings import read_spec
from sottovoce.models.speech import whisper
from sottovoce.models.speech.align.refusals import AlignmentFailed, AlignmentMismatch, LanguageNotAligned
from sottovoce.models.speech.align.whisper import Whisper, _spread, _times
from sottovoce.models.speech.audio import Speech

SECOND = Speech(np.zeros(16_000, np.float32), 16_000)


class Network:
    """Stands where the weights would: one token a word, each a quarter of a second long."""

    def __init__(self, gains):
        self._gains = gains

    def knows(self, language):
        return language == "de"

    def tokens(self, text):
        return [len(text)]

    def encode(self, speech):
        return "speech" if speech is not None else "silence"

    def align(self, heard, tokens, language, duration_s):
        likely = (
            np.exp(np.asarray(self._gains[: len(tokens)]) - 12)
            if heard == "speech"
            else np.full(len(tokens), np.exp(-12))
        )
        pairs = [(token, round(12.5 * token) + step) for token in range(len(tokens) + 1) for step in range(3)]
        return SimpleNamespace(alignments=pairs, text_token_probs=likely)


def aligner(*gains, **options):
    made = Whisper(**options)
    made._network, made._silence = Network(gains), "silence"
    return made


def test_words_follow_one_another_and_take_a_little_more_on_both_sides():
    words = aligner(5.0, 5.0, 5.0, reach_s=0.0).align(SECOND, "ruf anna, an", "de-DE")
    assert [(word.begin, word.end) for word in words] == [(0, 3), (4, 8), (10, 12)]
    assert [word.begin_s for word in words] == pytest.approx([0.0, 0.27, 0.53])
    assert words[0].end_s == words[1].begin_s
    wider = aligner(5.0, 5.0, 5.0, reach_s=0.05).align(SECOND, "ruf anna, an", "de")
    assert wider[1].begin_s == pytest.approx(words[1].begin_s - 0.05) and wider[0].begin_s == 0.0


@pytest.mark.parametrize("gains", [(0.2, 0.4, 0.1), (9.0, -2.0, 9.0)])
def test_a_text_that_the_speech_does_not_make_likelier_is_refused(gains):
    with pytest.raises(AlignmentMismatch):
        aligner(*gains).align(SECOND, "ruf anna an", "de")


def test_what_it_cannot_take_is_refused():
    with pytest.raises(LanguageNotAligned):
        aligner(5.0).align(SECOND, "hei", "fi")
    with pytest.raises(LanguageNotAligned):
        aligner(5.0).align(SECOND, "hei", None)
    with pytest.raises(AlignmentFailed):
        aligner(5.0).align(Speech(np.zeros(31 * 16_000, np.float32), 16_000), "hallo", "de")


def test_times_never_leave_the_speech_and_sounds_fill_their_word():
    assert _times([(0, 0), (1, 90)], 2, 1.0) == [0.0, 1.0, 1.0]
    phones = _spread(("AA", "T"), 1.0, 2.0)
    assert [(phone.begin_s, phone.end_s) for phone in phones] == [(1.0, 1.6), (1.6, 2.0)]
    assert _spread((), 1.0, 2.0) == ()


def test_the_row_is_there_and_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(whisper.util, "find_spec", lambda name: None)
    with pytest.raises(RunError, match=r"sottovoce\[whisper\]"):
        read_spec("align", "whisper").make().setup()


def test_weights_that_are_not_those_that_were_looked_at_are_not_loaded(monkeypatch, tmp_path):
    for name in ("config.json", "tokenizer.json", "vocabulary.txt", "model.bin.part1", "model.bin.part2"):
        (tmp_path / name).write_bytes(b"other")
    monkeypatch.setattr(whisper, "_folder", lambda package: tmp_path)
    with pytest.raises(RunError, match="not the file that was looked at"):
        whisper._files()


def test_features_are_whispers():
    tone = np.sin(np.arange(16_000) * 2 * np.pi * 440 / 16_000).astype(np.float32)
    found = whisper.log_mel(tone)
    assert found.shape == (80, 3000) and found.dtype == np.float32
    assert found.max() - found.min() <= 2.0 + 1e-6
    assert found[:, 50].argmax() == found[:, 30].argmax() < 20
