"""The neural detector that ships: small networks as int8 ONNX, for lower-cased speech transcripts and written text.

MiniLM (Wang et al. 2020, arXiv 2002.10957), six layers, with a linear layer over word pieces; trained by
`models/text/detect/builder` (see `weights/MODEL_CARD.md`). The tokenizer ignores case, so "call john" and "Call John" are one
and the same input. A bias on the outside label trades over-masking for recall (`spans_of`); it is tuned on dev data towards
recall and kept with the model. Texts in other languages than English go to a second network (`builder/gram_network.py`), which
learnt MASSIVE in nine languages; its bias is tuned for each. At run time there is no torch: onnxruntime with one thread;
parallelism comes from processes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect import CONTEXT, ENGLISH, ByLanguage
from sottovoce.models.text.detect.grams import GramNetwork
from sottovoce.models.text.detect.overlap import resolve, tidied
from sottovoce.models.text.detect.pieces import MEASURED, NETWORK, SETTINGS, Network, PieceNetwork, Scored
from sottovoce.models.text.detect.sureness import load_lists, raised, sure_enough
from sottovoce.models.text.detect.word_names import names_and_words

SHIPPED = Path(__file__).with_name("weights")
SHIPPED_LANGUAGES = SHIPPED / "languages"


@dataclass
class Tagger(ByLanguage):
    """`model`: a folder that `sottovoce build text` wrote; empty for the shipped ones, one of English and one of the other
    languages. `outside_bias` overrides the model's own: higher finds more and masks more. `types` limits what is reported."""

    model: str = ""
    outside_bias: float | None = None
    types: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require(
            (not self.model or Path(self.model).is_dir(), f"model: {self.model!r} is not a folder"),
        )
        require((self.types is None or len(self.types) > 0, "types: name at least one, or null for all"))
        self._folder = Path(self.model) if self.model else SHIPPED
        self._networks: dict[Path, Network] = {}

    def setup(self) -> None:
        self._networks[self._folder] = load(self._folder)
        load_lists()

    def network(self, code: str) -> Network:
        """That of other languages is loaded where the first text in one of them comes by."""
        folder = self._folder if self.model or code == ENGLISH else SHIPPED_LANGUAGES
        if folder not in self._networks:
            self._networks[folder] = load(folder)
        return self._networks[folder]

    def detect_in(self, code: str, texts: Sequence[str]) -> list[list[Span]]:
        once = list(dict.fromkeys(texts))
        bias = self.network(code).bias(code) if self.outside_bias is None else self.outside_bias
        scored = self.network(code).scored(once, code)
        found = {text: self.spans(text, one, bias, code) for text, one in zip(once, scored, strict=True)}
        return [list(found[text]) for text in texts]

    def finds(self) -> frozenset[str]:
        known = {label.partition("-")[2] for label in read_settings(self._folder)["labels"] if "-" in label}
        return frozenset(known if self.types is None else known & set(self.types))

    def spans(self, text: str, scored: Scored, bias: float, code: str = ENGLISH) -> list[Span]:
        """Spans of one text from the network's words and scores, with this bias on the outside label, tidied for the language."""
        words, scores = scored
        types = None if self.types is None else frozenset(self.types)
        network = self.network(code)
        scores = scores + network.offsets
        if code == ENGLISH:
            outside = network.names.index(OUTSIDE)
            scores = raised(text, words, said_twice(text, words, scores, outside), outside)
        spans = spans_of(text, words, scores, network.names, bias, "tagger", types)
        if network.seeds:
            spans = sure_enough(spans, text, words, scores, network.names.index(OUTSIDE), bias, network.seeds)
        return tidied(spans, text, code)

    def ledger(self) -> LedgerEntry:
        measured = read_measured(self._folder, "tagger")
        elsewhere = {} if self.model else read_measured(SHIPPED_LANGUAGES, "tagger")
        return LedgerEntry(
            stage="detect",
            mechanism="tagger",
            says="A neural tagger finds people, places, organisations, dates, times and codes. "
            + quote(measured)
            + in_other_languages(elsewhere),
            not_protected=(
                "what it misses: see the measured recall; on other domains it may be lower",
                "every language but those it learnt: the figures say which",
                CONTEXT,
            ),
            parameters={"model": self._folder.name if self.model else "shipped", "outside_bias": self.outside_bias,
                        "types": None if self.types is None else list(self.types), "measured": measured,
                        "measured_in_other_languages": elsewhere},
        )  # fmt: skip


def load(folder: Path) -> Network:
    """The network in a folder, of n-grams or of word pieces as its settings tell; a RunError where there is none."""
    for name in (NETWORK, SETTINGS):
        if not (folder / name).is_file():
            raise RunError(f"{folder / name}: no such file; expected a folder that `sottovoce build text` wrote")
    kept = read_settings(folder)
    return GramNetwork(folder, kept) if "rows" in kept else PieceNetwork(folder, kept)


def read_settings(folder: Path) -> dict[str, Any]:
    """What training wrote beside the weights: labels, biases, window or table size."""
    settings: dict[str, Any] = json.loads((folder / SETTINGS).read_text("utf-8"))
    return settings


def read_measured(folder: Path, detector: str) -> dict[str, dict[str, Any]]:
    """{set: {recall, interval, over_masking, command}} of a detector, as `sottovoce evaluate detect` wrote it."""
    path = folder / MEASURED
    return json.loads(path.read_text("utf-8")).get(detector, {}) if path.is_file() else {}


def quote(measured: dict[str, dict[str, Any]]) -> str:
    """One sentence with the recall on each set, and what share of the sensitive words stays in the clear."""
    if not measured:
        return "Its recall has not been measured: count on any share of the sensitive words staying in the clear."
    parts = [
        f"{name} {100 * row['recall']:.1f} % (95 % interval {100 * row['interval'][0]:.1f} to {100 * row['interval'][1]:.1f})"
        for name, row in measured.items()
    ]
    worst = 1 - min(row["recall"] for row in measured.values())
    best = 1 - max(row["recall"] for row in measured.values())
    return (
        f"Share of sensitive words found: {'; '.join(parts)}. "
        f"On text like these sets, expect {100 * best:.1f} to {100 * worst:.1f} % of the sensitive words in the clear."
    )


def in_other_languages(measured: dict[str, dict[str, Any]]) -> str:
    """A sentence with the recall on the sets as they are; what rare names give stands among the parameters."""
    plain = {name: row for name, row in measured.items() if " rare " not in name}
    return f" In other languages: {quote(plain)}" if plain else ""


OUTSIDE = "O"
_TWICE, _FAR_MORE = 2.0, 2.5


def said_twice(text: str, words: Sequence[tuple[int, int]], scores: np.ndarray, outside: int) -> np.ndarray:
    """Of a word that is a name as well and stands twice ("reading in reading"), the place that looks far more like a name gets
    `_TWICE` against the outside label: the network expects one word to mean one thing."""
    places: dict[str, list[int]] = {}
    for at, (begin, end) in enumerate(words):
        places.setdefault(text[begin:end].lower(), []).append(at)
    twice = [own for word, own in places.items() if len(own) > 1 and word in names_and_words()]
    if not twice:
        return scores
    scores = scores.copy()
    named = np.delete(scores, outside, axis=1).max(axis=1) - scores[:, outside]
    for own in twice:
        least = named[own].min()
        for at in own:
            scores[at, outside] -= _TWICE * (named[at] - least > _FAR_MORE)
    return scores


def probabilities(scores: np.ndarray, outside: int, bias: float) -> np.ndarray:
    """[words, labels], rows of sum 1: softmax of the scores after the outside label has lost `bias`."""
    shifted = scores.astype(np.float64)
    shifted[:, outside] -= bias
    shifted = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def spans_of(
    text: str,
    words: Sequence[tuple[int, int]],
    scores: np.ndarray,
    names: Sequence[str],
    bias: float,
    detector: str,
    types: frozenset[str] | None = None,
) -> list[Span]:
    """Words in a row with one type make one span, unless a word's label begins with B- (two cities one after the other). Words
    with no blank between them are of one name: "O'Brien"."""
    if not words:
        return []
    outside = names.index(OUTSIDE)
    likely = probabilities(scores, outside, bias)
    spans: list[Span] = []
    previous = ""
    for (begin, end), row in zip(words, likely, strict=True):
        prefix, _, kind = names[int(row.argmax())].partition("-")
        if not kind or (types is not None and kind not in types):
            previous = ""
            continue
        score = float(1 - row[outside])
        if kind == previous and (prefix != "B" or begin == spans[-1].end):
            last = spans.pop()
            spans.append(Span(last.begin, max(end, last.end), kind, min(last.score, score), detector))
        else:
            spans.append(Span(begin, end, kind, score, detector))
        previous = kind
    return resolve(spans, text)
