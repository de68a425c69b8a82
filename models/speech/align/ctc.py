"""Alignment with any Hugging Face CTC model, by name or path (wav2vec2 and its multilingual kin).

The model gives a distribution over letters for every frame; the likeliest path through the letters of the text is found
exactly (`ctc_trellis`). A word's confidence compares that path with the best path of any text: exp of the mean of
log p(symbol on the path) - max log p, over the frames where either path has a letter: blanks fit any text. CTC letters are
short peaks, so a word also takes part of the gap beside it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Phone, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.align.readings import Form, Piece, TextNotPronounceable, pieces
from sottovoce.models.speech.align.refusals import AlignmentFailed, AlignmentMismatch, LanguageNotAligned
from sottovoce.models.speech.audio import Speech, resample


@dataclass
class Ctc:
    """`languages` are the codes the model knows, such as ("de", "nl"); none given accepts every utterance."""

    model: str
    languages: tuple[str, ...] = ()
    floor: float = -1.5
    word_floor: float = -4.0
    reach_s: float = 0.08
    _model: Any = field(default=None, init=False, repr=False)
    _features: Any = field(default=None, init=False, repr=False)
    _vocabulary: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _blank: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        require(
            (bool(self.model), "model: give a name or a path"),
            (self.floor <= 0 and self.word_floor <= 0, "floor, word_floor: must be at most 0"),
            (0 <= self.reach_s <= 0.5, "reach_s: must lie in [0, 0.5]"),
        )

    def setup(self) -> None:
        from transformers import AutoFeatureExtractor, AutoModelForCTC, AutoTokenizer

        self._model = AutoModelForCTC.from_pretrained(self.model, trust_remote_code=False).eval()
        self._features = AutoFeatureExtractor.from_pretrained(self.model, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(self.model, trust_remote_code=False)
        self._vocabulary = dict(tokenizer.get_vocab())
        self._blank = int(self._model.config.pad_token_id)

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        (result,) = self.align_many([(speech, text, language)])
        if isinstance(result, Refusal):
            raise result
        return result

    def align_many(self, items: Sequence[tuple[Speech, str, str | None]]) -> list[tuple[Word, ...] | Refusal]:
        """One pass of the model for all items. A refusal takes the place of its own item only."""
        import torch

        rate_hz = int(self._features.sampling_rate)
        sounds = [resample(speech, rate_hz).samples for speech, _, _ in items]
        inputs = self._features(sounds, sampling_rate=rate_hz, return_tensors="pt", padding=True)
        with torch.inference_mode():
            scores = torch.log_softmax(self._model(**inputs).logits.float(), dim=-1)
        lengths = [int(self._model._get_feat_extract_output_lengths(len(sound))) for sound in sounds]
        results: list[tuple[Word, ...] | Refusal] = []
        for row, (speech, text, language) in enumerate(items):
            try:
                results.append(self._words(scores[row, : lengths[row]], speech, text, language))
            except Refusal as refusal:
                results.append(refusal)
        return results

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="align",
            mechanism="ctc",
            says="Each word of the transcript is located in the speech with a CTC model; where the transcript does not fit, "
            "the utterance is refused.",
            not_protected=("words that are said but not written, where the misfit stays above the floors",),
            parameters={
                "model": self.model,
                "floor": self.floor,
                "word_floor": self.word_floor,
                "reach_s": self.reach_s,
            },
        )

    def _words(self, scores: Any, speech: Speech, text: str, language: str | None) -> tuple[Word, ...]:
        if self.languages and language and language.lower().replace("_", "-").split("-")[0] not in self.languages:
            raise LanguageNotAligned
        spoken = pieces(text, fold=str.lower)
        letters, states = self._best_reading(scores, spoken)
        path = np.asarray(states)
        on_path = np.array([scores[t, letters[s // 2][0] if s % 2 else self._blank].item() for t, s in enumerate(path)])
        heard, symbols = scores.max(dim=-1)
        misfit = on_path - heard.numpy()
        misfit[(path % 2 == 0) & (symbols.numpy() == self._blank)] = np.nan
        owner = np.array([letters[s // 2][1] if s % 2 else -1 for s in path])
        frame_s = speech.duration_s / len(path)
        words = [
            self._word(piece, np.flatnonzero(owner == index), misfit, path, letters, frame_s)
            for index, piece in enumerate(spoken)
        ]
        if np.nanmean(misfit) < self.floor or math.log(min(word.confidence for word in words)) < self.word_floor:
            raise AlignmentMismatch
        return _widened(words, self.reach_s, speech.duration_s)

    def _word(
        self, piece: Piece, frames: np.ndarray, misfit: np.ndarray, path: np.ndarray, letters: Any, frame_s: float
    ) -> Word:
        begin, end = int(frames[0]), int(frames[-1]) + 1
        symbols = {index: symbol for symbol, index in self._vocabulary.items()}
        phones = []
        for state in dict.fromkeys(path[frames].tolist()):
            own = np.flatnonzero(path == state)
            phones.append(Phone(symbols[letters[state // 2][0]], own[0] * frame_s, (own[-1] + 1) * frame_s))
        confidence = math.exp(min(0.0, float(np.nanmean(misfit[begin:end]))))
        return Word(piece.begin, piece.end, begin * frame_s, end * frame_s, confidence, tuple(phones))

    def _best_reading(self, scores: Any, spoken: Sequence[Piece]) -> tuple[list[tuple[int, int]], list[int]]:
        """Labels with the piece they belong to, and the path; of each piece's readings the one that fits best."""
        from sottovoce.models.speech.align.ctc_trellis import best_paths

        choices = [[self._letters(form) for form in piece.forms] for piece in spoken]
        chosen = [readings[0] for readings in choices]
        delimiter = [self._vocabulary["|"]] if "|" in self._vocabulary else []
        best: tuple[list[tuple[int, int]], list[int]] = ([], [])
        ambiguous = [index for index, readings in enumerate(choices) if len(readings) > 1] or [0]
        for index in ambiguous:
            tries = [[*chosen[:index], reading, *chosen[index + 1 :]] for reading in choices[index]]
            labelled = [_labelled(attempt, delimiter) for attempt in tries]
            labels = [[label for label, _ in item] for item in labelled]
            paths, totals = best_paths(
                scores.expand(len(tries), -1, -1), [len(scores)] * len(tries), labels, self._blank
            )
            winner = max(range(len(tries)), key=totals.__getitem__)
            chosen = tries[winner]
            best = (labelled[winner], paths[winner])
        if not best[1]:
            raise AlignmentFailed
        return best

    def _letters(self, form: Form) -> list[int]:
        """Labels of a reading: the first word of each slot, letter by letter, with bars between words."""
        labels: list[int] = []
        for slot in form:
            if labels and "|" in self._vocabulary:
                labels.append(self._vocabulary["|"])
            labels += [label for letter in slot[0].rstrip(".") for label in self._label(letter)]
        if not labels:
            raise TextNotPronounceable
        return labels

    def _label(self, letter: str) -> list[int]:
        bare = unicodedata.normalize("NFKD", letter)[0]
        for option in (letter, letter.upper(), bare, bare.upper()):
            if option in self._vocabulary:
                return [self._vocabulary[option]]
        if letter.isalnum():
            raise TextNotPronounceable
        return []


def _labelled(readings: Sequence[list[int]], delimiter: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for index, reading in enumerate(readings):
        out += [(label, -1) for label in delimiter] if index else []
        out += [(label, index) for label in reading]
    return out


def _widened(words: Sequence[Word], reach_s: float, duration_s: float) -> tuple[Word, ...]:
    """Each word takes at most half of the gap to its neighbour, and at most `reach_s` of it."""
    out = []
    for index, word in enumerate(words):
        before_s = (word.begin_s - words[index - 1].end_s) / 2 if index else word.begin_s
        after_s = (words[index + 1].begin_s - word.end_s) / 2 if index + 1 < len(words) else duration_s - word.end_s
        begin_s, end_s = word.begin_s - min(reach_s, max(before_s, 0)), word.end_s + min(reach_s, max(after_s, 0))
        out.append(Word(word.begin, word.end, begin_s, min(end_s, duration_s), word.confidence, word.phones))
    return tuple(out)
