"""Which words were said, from frame-wise log probabilities of phones: Viterbi search through a loop over all words.

Connectionist temporal classification (Graves et al., ICML 2006): between two phones may stand a blank, and must where they
are the same. Each pronunciation is a row of states: phone, blank, phone, ... blank. Every word follows every word at the
same price, so that what is measured is hearing and not a language model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BLANK = 0
NEVER = -1e9


class WordLoop:
    """`pronunciations` are (word, labels of its phones); label 0 is the blank."""

    def __init__(self, pronunciations: Sequence[tuple[str, Sequence[int]]]):
        self._words = [word for word, _ in pronunciations]
        lengths = np.array([len(labels) for _, labels in pronunciations])
        self._rows = np.arange(len(lengths))
        self._labels = np.full((len(lengths), 2 * int(lengths.max())), BLANK)
        for row, (_, labels) in enumerate(pronunciations):
            self._labels[row, 0 : 2 * len(labels) : 2] = labels
        self._last = 2 * (lengths - 1)  # state of the last phone; the blank after it comes next
        self._exists = np.arange(self._labels.shape[1]) <= self._last[:, None] + 1
        self._may_skip = np.zeros(self._labels.shape, bool)
        self._may_skip[:, 2:] = (self._labels[:, 2:] != BLANK) & (self._labels[:, 2:] != self._labels[:, :-2])
        self._price = -float(np.log(len(set(self._words))))

    def decode(self, log_probabilities: np.ndarray) -> tuple[str, ...]:
        """[frames, labels] -> words."""
        score = np.full(self._labels.shape, NEVER)
        story = np.zeros(self._labels.shape, int)  # place in `told` of what was said before this word
        told: list[tuple[int, int]] = [(0, -1)]  # (what was told before, row of the word that ended)
        quiet, quiet_story = 0.0, 0  # between words, after a blank or at the start
        ended, ended_story, ended_label = NEVER, 0, BLANK  # just after the last phone of the best word
        for frame in log_probabilities:
            score, story = self._within(score, story)
            entering = np.where((self._labels[:, 0] != ended_label) & (ended > quiet), ended, quiet)
            origin = np.where(entering == ended, ended_story, quiet_story)
            better = entering + self._price > score[:, 0]
            score[:, 0] = np.where(better, entering + self._price, score[:, 0])
            story[:, 0] = np.where(better, origin, story[:, 0])
            score = np.where(self._exists, score + frame[self._labels], NEVER)
            after_blank = score[self._rows, self._last + 1]
            best = int(after_blank.argmax())
            quiet += float(frame[BLANK])
            if after_blank[best] > quiet:
                told.append((int(story[best, self._last[best] + 1]), best))
                quiet, quiet_story = float(after_blank[best]), len(told) - 1
            at_end = score[self._rows, self._last]
            best = int(at_end.argmax())
            told.append((int(story[best, self._last[best]]), best))
            ended, ended_story, ended_label = float(at_end[best]), len(told) - 1, self._labels[best, self._last[best]]
        return self._tell(told, quiet_story if quiet >= ended else ended_story)

    def _within(self, score: np.ndarray, story: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best way into each state from within its word: stay, come from the state before, or skip a blank."""
        step, skip = np.full_like(score, NEVER), np.full_like(score, NEVER)
        step[:, 1:] = score[:, :-1]
        skip[:, 2:] = np.where(self._may_skip[:, 2:], score[:, :-2], NEVER)
        ways = np.stack([score, step, skip])
        stories = np.stack([story, np.roll(story, 1, axis=1), np.roll(story, 2, axis=1)])
        best = ways.argmax(axis=0)[None]
        return np.take_along_axis(ways, best, 0)[0], np.take_along_axis(stories, best, 0)[0]

    def _tell(self, told: Sequence[tuple[int, int]], at: int) -> tuple[str, ...]:
        words = []
        while at > 0:
            at, row = told[at]
            words.append(self._words[row])
        return tuple(reversed(words))
