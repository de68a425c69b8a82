"""The auto-encoder of ADePT: an utterance to one short vector and back, as recurrent networks in plain NumPy.

The intent is the first token, as in the paper; slots are brackets around their words, which the paper leaves open. The encoder's
last state, projected, is the vector; the decoder sees it at every step. `builder.py` trains it with torch and writes the arrays.
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
from sottovoce.models.text.detect.builder.corpora import split_slots

SHIPPED = Path(__file__).with_name("weights")
ARRAYS, CARD = "rewriter.npz", "rewriter.json"
PAD, UNKNOWN, BEGIN, END = "<pad>", "<unk>", "<s>", "</s>"
SPECIAL = (PAD, UNKNOWN, BEGIN, END)
INTENT, OPEN, CLOSE = "intent:", "[", "]"
LONGEST = 40


def tokens_of(utterance: Utterance) -> list[str]:
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
    card: dict[str, Any]
    vocabulary: tuple[str, ...]
    arrays: dict[str, np.ndarray]

    @property
    def dimension(self) -> int:
        return int(self.arrays["project"].shape[0])

    @functools.cached_property
    def _number(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.vocabulary)}

    def encode(self, tokens: Sequence[str]) -> np.ndarray:
        unknown = self._number[UNKNOWN]
        state = np.zeros((2, self.arrays["encode_h"].shape[1]))
        for token in tokens[:LONGEST]:
            vector = self.arrays["embed"][self._number.get(token, unknown)]
            state = _step(self.arrays, "encode", vector, state)
        return self.arrays["project"] @ state[0]

    def decode(self, vector: np.ndarray, beam: int) -> list[str]:
        """The likeliest sentence that a beam of this width finds; 1 is greedy."""
        first = np.tanh(self.arrays["begin"] @ vector + self.arrays["begin_bias"])
        alive = [(0.0, [self._number[BEGIN]], np.stack([first, np.zeros_like(first)]))]
        done: list[tuple[float, list[int]]] = []
        for _ in range(LONGEST):
            grown = []
            for score, said, state in alive:
                state = _step(self.arrays, "decode", np.append(self.arrays["embed"][said[-1]], vector), state)
                scores = self._scores(state[0], said)
                for number in np.argsort(scores)[-beam:]:
                    grown.append((score + float(scores[number]), [*said, int(number)], state))
            grown.sort(key=lambda item: -item[0])
            done += [(score / len(said), said) for score, said, _ in grown[:beam] if said[-1] == self._number[END]]
            alive = [item for item in grown[:beam] if item[1][-1] != self._number[END]]
            if not alive:
                break
        best = max(done or [(score / len(said), said) for score, said, _ in alive])
        return [self.vocabulary[number] for number in best[1][1:] if number != self._number[END]]

    def _scores(self, hidden: np.ndarray, said: Sequence[int]) -> np.ndarray:
        scores = self.arrays["embed"] @ (self.arrays["out"] @ hidden) + self.arrays["out_bias"]
        scores = scores - scores.max()
        scores -= np.log(np.exp(scores).sum())
        scores[[self._number[token] for token in (PAD, UNKNOWN, BEGIN)]] = -np.inf
        scores[said[-1]] = -np.inf
        pairs = {tuple(said[at : at + 2]): said[at + 2] for at in range(len(said) - 2)}
        if (follower := pairs.get(tuple(said[-2:]))) is not None:
            scores[follower] = -np.inf
        return scores


def _step(arrays: dict[str, np.ndarray], name: str, vector: np.ndarray, state: np.ndarray) -> np.ndarray:
    """One step of a recurrent network with gates in torch's order: in, forget, cell, out."""
    gates = arrays[f"{name}_x"] @ vector + arrays[f"{name}_h"] @ state[0] + arrays[f"{name}_bias"]
    enter, forget, cell, leave = np.split(gates, 4)
    inside = _sigmoid(forget) * state[1] + _sigmoid(enter) * np.tanh(cell)
    return np.stack([_sigmoid(leave) * np.tanh(inside), inside])


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * values))


@functools.lru_cache(maxsize=2)
def load(folder: str | None) -> AutoEncoder:
    """A folder that `sottovoce build rewriter` wrote; without one, the auto-encoder that ships."""
    place = Path(folder) if folder else SHIPPED
    try:
        card = json.loads((place / CARD).read_text("utf-8"))
        with np.load(place / ARRAYS, allow_pickle=False) as found:
            arrays = {name: found[name].astype(np.float64) for name in found.files if name != "vocabulary"}
            vocabulary = tuple(found["vocabulary"].tolist())
    except (OSError, ValueError, KeyError):
        raise SettingsError(
            [f"rewrite.adept.model: {place} holds no rewriter; expected a folder that `sottovoce build rewriter` wrote"]
        ) from None
    return AutoEncoder(card, vocabulary, arrays)


def card_of(folder: str | None) -> dict[str, Any]:
    """What the folder says of its training; empty where there is none."""
    place = (Path(folder) if folder else SHIPPED) / CARD
    return json.loads(place.read_text("utf-8")) if place.is_file() else {}
