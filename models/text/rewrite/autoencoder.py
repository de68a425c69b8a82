"""The auto-encoder of ADePT: an utterance to one short vector and back, as recurrent networks in plain NumPy.

The intent is the first token, as in the paper; slots are brackets around their words, which the paper leaves open. The encoder's
last state, projected, is the vector; the decoder sees it at every step. `models/training/networks/rewriter.py` is the same
network for training.
Decoding is greedy, or by a beam; no word follows itself and no three words come twice, for noise makes decoders stutter.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import SettingsError
from sottovoce.models.records import Slot, Utterance
from sottovoce.models.text.detect.builder.labelled_rows import split_slots

SHIPPED = Path(__file__).with_name("weights")
ARRAYS, CARD = "rewriter.npz", "rewriter.json"
PRIVACY = "privacy_card.json"  # beside them where `sottovoce train` made the rewriter
PAD, UNKNOWN, BEGIN, END = "<pad>", "<unk>", "<s>", "</s>"
SPECIAL = (PAD, UNKNOWN, BEGIN, END)
INTENT, OPEN, CLOSE = "intent:", "[", "]"
LONGEST = 40


def tokens_of(utterance: Utterance) -> list[str]:
    """The utterance as the network reads it: intent, then words in lower case with brackets around slots."""
    words, tags = split_slots(utterance.text, [(slot.begin, slot.end, slot.name) for slot in utterance.slots])
    return tokens_from(words, tags, utterance.intent)


def tokens_from(words: Sequence[str], tags: Sequence[str], intent: str | None) -> list[str]:
    """Words with BIO tags of their slots -> the sentence that is encoded."""
    out = [f"{INTENT}{intent}"] if intent else []
    inside = False
    for word, tag in zip(words, tags, strict=True):
        if inside and not tag.startswith("I-"):
            out.append(CLOSE)
        if tag.startswith("B-"):
            out.append(OPEN + tag[2:])
        inside = tag != "O"
        out.append(word.casefold())
    return [*out, CLOSE] if inside else out


def text_of(tokens: Sequence[str]) -> tuple[str, str | None, tuple[Slot, ...]]:
    """(text, intent, slots); brackets that do not fit are left out, and an empty slot is none."""
    intent, slot, words, slots = None, "", [], []
    at = begin = 0
    for token in [*tokens, CLOSE]:
        if token.startswith(INTENT):
            intent = intent or token.removeprefix(INTENT)
        elif token == CLOSE or (token.startswith(OPEN) and len(token) > 1):
            if slot and at > begin:
                slots.append(Slot(begin, at - 1, slot))
            slot, begin = token[1:], at
        elif token not in SPECIAL:
            words.append(token)
            at += len(token) + 1
    return " ".join(words), intent, tuple(slots)


@dataclass(frozen=True, eq=False, repr=False)
class AutoEncoder:
    """The trained networks as plain arrays, with their vocabulary and the card that tells how they were trained."""

    card: dict[str, Any]
    vocabulary: tuple[str, ...]
    arrays: dict[str, np.ndarray]

    @property
    def dimension(self) -> int:
        """Length of an utterance's vector."""
        return int(self.arrays["project"].shape[0])

    @functools.cached_property
    def _number(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.vocabulary)}

    def encode(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """[sentences, dimension]: the projected state after each sentence's own last token."""
        unknown = self._number[UNKNOWN]
        rows = [[self._number.get(token, unknown) for token in said[:LONGEST]] for said in sentences]
        states = np.zeros((len(rows), 2, self.arrays["encode_h"].shape[1]), dtype=np.float32)
        for at in range(max(map(len, rows), default=0)):
            alive = [number for number, row in enumerate(rows) if at < len(row)]
            vectors = self.arrays["embed"][[rows[number][at] for number in alive]]
            states[alive] = _step(self.arrays, "encode", vectors, states[alive])
        return (states[:, 0] @ self.arrays["project"].T).astype(np.float64)

    def decode(self, vectors: np.ndarray, beam: int) -> list[list[str]]:
        """For each vector the likeliest sentence that a beam of this width finds; 1 is greedy."""
        vectors = vectors.astype(np.float32)
        begin = np.zeros((2, self.arrays["decode_h"].shape[1]), dtype=np.float32)
        alive = [_Said(row, 0.0, [self._number[BEGIN]], begin) for row in range(len(vectors))]
        done: dict[int, tuple[float, list[int]]] = {}
        for _ in range(LONGEST):
            if not alive:
                break
            alive = self._grown(alive, vectors, beam, done)
        for one in alive:
            if one.row not in done:
                done[one.row] = (-np.inf, one.tokens)
        ends = (self._number[BEGIN], self._number[END])
        return [[self.vocabulary[n] for n in done[row][1] if n not in ends] for row in range(len(vectors))]

    def _grown(
        self, alive: list[_Said], vectors: np.ndarray, beam: int, done: dict[int, tuple[float, list[int]]]
    ) -> list[_Said]:
        """Every sentence one token longer, the best of each row; what has ended goes to `done` if it is the best so far."""
        shown = self.arrays["embed"][[one.tokens[-1] for one in alive]]
        inputs = np.concatenate([shown, vectors[[one.row for one in alive]]], axis=1)
        states = _step(self.arrays, "decode", inputs, np.stack([one.state for one in alive]))
        scores = self._scores(states[:, 0], alive)
        best = np.argpartition(scores, -beam, axis=1)[:, -beam:] if beam > 1 else scores.argmax(axis=1)[:, None]
        rows: dict[int, list[_Said]] = {}
        for at, one in enumerate(alive):
            for number in best[at]:
                longer = _Said(one.row, one.score + float(scores[at, number]), [*one.tokens, int(number)], states[at])
                rows.setdefault(one.row, []).append(longer)
        left = []
        for row, grown in rows.items():
            for one in sorted(grown, key=lambda item: -item.score)[:beam]:
                if one.tokens[-1] != self._number[END]:
                    left.append(one)
                elif row not in done or one.score / len(one.tokens) > done[row][0]:
                    done[row] = (one.score / len(one.tokens), one.tokens)
        return left

    def _scores(self, hidden: np.ndarray, alive: Sequence[_Said]) -> np.ndarray:
        """Log probabilities of the next token, without those that would stutter."""
        scores = (hidden @ self.arrays["narrow"].T) @ self.arrays["head"].T + self.arrays["head_bias"]
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        scores[:, [self._number[token] for token in (PAD, UNKNOWN, BEGIN)]] = -np.inf
        for row, one in zip(scores, alive, strict=True):
            said = one.tokens
            row[said[-1]] = -np.inf
            for at in range(len(said) - 2):
                if said[at : at + 2] == said[-2:]:
                    row[said[at + 2]] = -np.inf
        return scores


@dataclass(frozen=True, slots=True, repr=False)
class _Said:
    """A sentence that is being decoded: whose, how likely, what was said, and the state of the writer."""

    row: int
    score: float
    tokens: list[int]
    state: np.ndarray


def _step(arrays: dict[str, np.ndarray], name: str, vectors: np.ndarray, states: np.ndarray) -> np.ndarray:
    """One step of a recurrent network, all rows at once; gates as in `models/training/networks/lstm.py`."""
    gates = vectors @ arrays[f"{name}_x"].T + states[:, 0] @ arrays[f"{name}_h"].T + arrays[f"{name}_bias"]
    enter, forget, leave, cell = np.split(gates, 4, axis=1)
    inside = _sigmoid(forget) * states[:, 1] + _sigmoid(enter) * np.tanh(cell)
    return np.stack([_sigmoid(leave) * np.tanh(inside), inside], axis=1)


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * values))


def write(folder: Path, vocabulary: Sequence[str], arrays: dict[str, np.ndarray], card: dict[str, Any]) -> None:
    """Writes what `load` reads: vocabulary and weights in half precision, and the card as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    small: dict[str, Any] = {name: array.astype(np.float16) for name, array in arrays.items()}
    np.savez_compressed(folder / ARRAYS, vocabulary=np.array(vocabulary), **small)
    (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", "utf-8")


@functools.lru_cache(maxsize=2)
def load(folder: str | None) -> AutoEncoder:
    """A folder that `sottovoce build rewriter` wrote; without one, the auto-encoder that ships."""
    place = Path(folder) if folder else SHIPPED
    try:
        card = json.loads((place / CARD).read_text("utf-8"))
        with np.load(place / ARRAYS, allow_pickle=False) as found:
            arrays = {name: found[name].astype(np.float32) for name in found.files if name != "vocabulary"}
            vocabulary = tuple(found["vocabulary"].tolist())
    except (OSError, ValueError, KeyError):
        raise SettingsError(
            [f"rewrite.adept.model: {place} holds no rewriter; expected a folder that `sottovoce build rewriter` wrote"]
        ) from None
    return AutoEncoder(card, vocabulary, arrays)


def card_of(folder: str | None) -> dict[str, Any]:
    """What the folder says of its training, `privacy` where it was private; empty where there is none."""
    place = Path(folder) if folder else SHIPPED
    if not (place / CARD).is_file():
        return {}
    card = json.loads((place / CARD).read_text("utf-8"))
    if (place / PRIVACY).is_file():
        card["privacy"] = json.loads((place / PRIVACY).read_text("utf-8"))
    return card
