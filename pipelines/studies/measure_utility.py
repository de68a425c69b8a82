"""The study of utility: transform the training set with each strategy, train, test on the untouched test set.

Sensitive spans are the gold entities, as in the study that is repeated, or a detector's. Draws are keyed by the seed of
the cell: a study is no release, so its key need not be secret.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError, Refusal
from sottovoce.models.evaluation.attacks.trigrams import BEGIN, Trigrams
from sottovoce.models.evaluation.metrics.utility import Cell, Score, Sentence
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Span, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text import chain
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, corpus_name, label, stretches
from sottovoce.models.text.detect.builder.labelled_rows import split_slots
from sottovoce.models.text.edits import apply_edits, split_at_slots
from sottovoce.models.text.language import code_of
from sottovoce.models.text.replace import CountsCorpus
from sottovoce.models.training.examples import Example, read_corpus

NONE = "none"
PLACEHOLDERS = ("redact", "typed", "named")
SURROGATES = ("word", "full", "consistent")
STRATEGIES = (NONE, *SURROGATES, *PLACEHOLDERS)
WHOLE_BATCH = 256
REQUEST = "request"

Measure = Callable[[Sequence[Sentence], Sequence[Sentence], int], Score]


@dataclass(frozen=True)
class Variant:
    """A strategy at p = 1 (`epsilon` 0), or at the p that gives `epsilon` a unit, one p for all values or one for each
    (`p_mode`); `none` has no epsilon."""

    strategy: str
    epsilon: float | None
    p_mode: str = "uniform"

    @property
    def shown(self) -> str:
        """The strategy's name in tables, with how p is chosen where that is not one p for all values."""
        return self.strategy if self.p_mode == "uniform" else f"{self.strategy}, p by {self.p_mode}"

    def make(self, values: str) -> Any:
        """A replacement member, before its `setup`; `values` says where surrogates come from, placeholders need none."""
        options: dict[str, Any] = {} if self.strategy in PLACEHOLDERS else {"values": values}
        if self.epsilon:
            options |= {"target_epsilon": self.epsilon, "p_mode": self.p_mode}
        return Spec("replace", self.strategy, tuple(sorted(options.items()))).make()


@dataclass(frozen=True, repr=False)
class UtilityStudy:
    """One corpus, read: utterances to transform, with their sensitive spans, and sentences to test on."""

    corpus: str
    train: tuple[Utterance, ...]
    test: tuple[Sentence, ...]

    def bits_a_word(self, sentences: Sequence[Sentence]) -> float:
        """How well the sentences read to a 3-gram model of the test set, which no strategy has touched: fewer bits are better."""
        words = sum(len(sentence.words) for sentence in sentences)
        said = (self._language.log_probability(_lowered(one), [BEGIN, BEGIN]) for one in sentences)
        return -sum(said) / math.log(2) / max(words, 1)

    @cached_property
    def _language(self) -> Trigrams:
        return Trigrams([_lowered(sentence) for sentence in self.test])


def _lowered(sentence: Sentence) -> list[str]:
    return [word.lower() for word in sentence.words]


def variants(
    strategies: Sequence[str], epsilons: Sequence[float], p_modes: Sequence[str] = ("uniform",)
) -> list[Variant]:
    """Placeholders only at p = 1: below it they have no finite epsilon to be drawn at."""
    rows = []
    for strategy in strategies:
        if strategy == NONE:
            rows.append(Variant(NONE, None))
        elif strategy in PLACEHOLDERS:
            rows.append(Variant(strategy, 0.0))
        else:
            rows.append(Variant(strategy, 0.0))
            rows += [Variant(strategy, epsilon, mode) for mode in p_modes for epsilon in sorted({*epsilons})]
    return rows


def read_study(
    path: Path,
    train_limit: int | None,
    test_limit: int | None,
    detector: Any = None,
    test_split: str = "test",
    train_split: str = "train",
    acts: Sequence[str] = (),
) -> UtilityStudy:
    """A random part of the splits `train` and `test`, the same in every study. Gold spans without a detector. With `acts`
    dialogue acts are learnt: these intents, and one act more for all others."""
    name = corpus_name(path)
    known, tested = _splits(path, train_split, test_split)
    train = [_utterance(name, number, row) for number, row in enumerate(_drawn(known, train_limit))]
    if detector is not None:
        train = list(_detected(train, detector))
    test = [Sentence(row.tokens, row.tags, row.intent) for row in _drawn(tested, test_limit)]
    if acts:
        train = [dataclasses.replace(one, intent=one.intent if one.intent in acts else REQUEST) for one in train]
        test = [dataclasses.replace(one, intent=one.intent if one.intent in acts else REQUEST) for one in test]
        name = f"{name}, acts"
    return UtilityStudy(name, tuple(train), tuple(test))


def _splits(path: Path, train_split: str, test_split: str) -> tuple[list[Example], list[Example]]:
    """Of a set that has one split alone a stable fifth of the dialogues (of the sentences, where it names none) is held out."""
    parts = {}
    for split in (train_split, test_split):
        parts[split] = read_corpus(path, split).examples
        if not parts[split]:
            raise CorpusError(
                f"{path.name}: no rows of split {split!r} with an intent; a study needs {train_split} and {test_split}"
            )
    if train_split != test_split:
        return parts[train_split], parts[test_split]
    held: dict[bool, list[Example]] = {True: [], False: []}
    for row in parts[train_split]:
        key = row.dialogue or str(row.source.line)
        held[hashlib.sha256(key.encode()).digest()[0] % 5 == 0].append(row)
    return held[False], held[True]


def _drawn(rows: list[Example], limit: int | None) -> list[Example]:
    return rows if limit is None or len(rows) <= limit else random.Random(0).sample(rows, limit)


def run_cell(study: UtilityStudy, variant: Variant, seeds: int, values: str, measure: Measure) -> Cell:
    """Transforms, trains and tests once for each of `seeds` seeds; refused sentences are added up over them."""
    scores, refused, kept, entities, bits = [], 0, 0, 0, 0.0
    for seed in range(seeds):
        sentences, lost, same = transform(study, variant, seed, values)
        scores.append(measure(sentences, study.test, seed))
        bits += study.bits_a_word(sentences) / seeds
        refused += lost
        kept += same
        entities += sum(len(utterance.spans) for utterance in study.train)
    changed = 1 - kept / entities if entities else 0.0
    return Cell(study.corpus, variant.shown, variant.epsilon, tuple(scores), changed, refused, bits)


def transform(study: UtilityStudy, variant: Variant, seed: int, values: str) -> tuple[list[Sentence], int, int]:
    """The training sentences as the strategy leaves them, how many it lost, and how many entities stayed as they were."""
    if variant.strategy == NONE:
        return [sentence_of(one.text, one.slots, one.intent) for one in study.train], 0, _entities(study)
    strategy = variant.make(values)
    strategy.setup()
    if isinstance(strategy, CountsCorpus) and strategy.counting is not None:
        strategy.use_corpus(_counted(strategy, study))
    secret = Secret(hashlib.sha256(f"utility {seed}".encode()).digest())
    sentences, refused, changed = [], 0, 0
    for utterance in study.train:
        edits = strategy.replace(utterance, secret)
        changed += sum(any(e.begin < s.end and s.begin < e.end for e in edits) for s in utterance.spans)
        try:
            text, slots = apply_edits(utterance.text, edits, utterance.slots)
        except Refusal:
            refused += 1
            continue
        sentences.append(sentence_of(text, slots, utterance.intent))
    return sentences, refused, _entities(study) - changed


def _entities(study: UtilityStudy) -> int:
    return sum(len(utterance.spans) for utterance in study.train)


def _counted(strategy: Any, study: UtilityStudy) -> dict[str, dict[str, float]]:
    """The exact counts of this corpus, as the study drew from: no differential privacy."""
    counts: dict[str, Counter[str]] = {}
    for utterance in study.train:
        for type_, value in strategy.values_of(utterance):
            counts.setdefault(type_, Counter())[value] += 1
    return {type_: dict(own) for type_, own in counts.items()}


def sentence_of(text: str, slots: Sequence[Slot], intent: str | None) -> Sentence:
    """Words with BIO tags; a text without an intent has the intent ''."""
    words, tags = split_slots(text, [(slot.begin, slot.end, slot.name) for slot in slots])
    return Sentence(tuple(words), tuple(tags), intent or "")


def _utterance(corpus: str, number: int, row: Example) -> Utterance:
    """A sentence is a dialogue of its own where the corpus names none."""
    tokens, tags = row.tokens, row.tags
    begins, at = [], 0
    for token in tokens:
        begins.append(at)
        at += len(token) + 1

    def places(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        for first, last, name in stretches(labels):
            yield begins[first], begins[last - 1] + len(tokens[last - 1]), name

    code = code_of(row.language or ENGLISH)
    sensitive = [OUTSIDE if tag == MIXED else tag for tag in label(corpus, tokens, tags, language=code)]
    return Utterance(
        id=str(number),
        dialogue_id=row.dialogue or str(number),
        turn=0,
        text=" ".join(tokens),
        source=Source(corpus, number),
        intent=row.intent,
        slots=tuple(Slot(*place) for place in places(tags)),
        spans=tuple(Span(*place) for place in places(sensitive)),
        language=code,
    )


def _detected(utterances: Sequence[Utterance], detector: Any) -> Iterator[Utterance]:
    for begin in range(0, len(utterances), WHOLE_BATCH):
        batch = utterances[begin : begin + WHOLE_BATCH]
        for found in chain.detected(detector, batch):
            yield dataclasses.replace(found, spans=tuple(split_at_slots(found.text, found.spans, found.slots)))
