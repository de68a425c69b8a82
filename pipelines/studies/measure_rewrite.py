"""The study of rewriting: what each strategy leaves of a corpus for those who train on it, and for those who attack it.

A strategy rewrites the training set; a bag-of-words classifier learns intents from the result and is tested on untouched
sentences. Each sentence is a speaker of its own, as these corpora name none; or each dialogue is one, where a corpus has
dialogues (`UNITS`). Sentences that are public, where there are any, are given to every learner beside the result: a decoder that
has read them hands them on, so that strategies are compared on level ground only if all have them. Attacks: was a sentence in the
corpus at all (shadow model on the five largest scores, half of the sentences in and half out, as in ADePT 4.5); which word
triples of the corpus survive, by how rare they are; and, where a record has one rewriting, is it found among a thousand by
shared words.
Draws are keyed by the seed: a study is no release.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.attacks.membership import shadow_attack
from sottovoce.models.evaluation.metrics.utility import Sentence
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text import chain
from sottovoce.models.text.rewrite import ReleasesTemplates
from sottovoce.models.text.rewrite.autoencoder import card_of
from sottovoce.models.text.rewrite.release import release
from sottovoce.pipelines.studies.measure_utility import sentence_of

NONE, REPLACE = "none", "replace"
STRATEGIES = (NONE, REPLACE, "crowd", "adept", "metric")
UNITS = ("utterance", "dialogue")
TOP, AMONG, TRIPLE, AT_ONCE = 5, 1000, 3, 512
RARITY = (("once", 1, 1), ("2 to 9 times", 2, 9), ("10 and more", 10, math.inf))


@dataclass(frozen=True)
class MeasuredStrategy:
    """`epsilon`: of a speaker for crowd, of an utterance for adept, of distance 1 for metric; None for none and replace."""

    name: str
    epsilon: float | None
    delta: float = 1e-6
    model: str | None = None
    unit: str = UNITS[0]
    ladder: tuple[tuple[str, float], ...] = ()  # of crowd; none: its default

    def make(self) -> Any:
        """A member with these settings, before its `setup`. Not for `none`, which rewrites nothing."""
        if self.name == REPLACE:
            return Spec("replace", "full").make()
        options: dict[str, Any] = {"epsilon": self.epsilon}
        if self.name == "crowd":
            options |= {"delta": self.delta} | ({"ladder": dict(self.ladder)} if self.ladder else {})
            if self.unit == UNITS[0]:  # one sentence is one
                options["utterances_per_speaker"] = 1
        elif self.name == "adept":
            options |= {"delta": self.delta, "model": self.model}
        return Spec("rewrite", self.name, tuple(sorted(options.items()))).make()

    def guarantee(self, corpus: str) -> str:
        """Of the sound epsilon: for whom, or why there is none. A decoder that has read this very corpus gives none."""
        if self.name in (NONE, REPLACE, "metric"):
            return "none" if self.name == NONE else "detected words" if self.name == REPLACE else "metric, a word"
        sound = self.make().ledger().sound
        if self.name == "crowd":
            return f"({sound['speaker']:g}, {self.delta:g}) {self.unit}"
        read = f"{corpus}.jsonl.gz (train)" in card_of(self.model).get("trained_on", ())
        finite = math.isfinite(sound["utterance"]) and not read
        return f"({sound['utterance']:g}, {self.delta:g}) utterance" if finite else "none: decoder read it"


@dataclass(frozen=True)
class Rewritten:
    """What a strategy made of a corpus. `origins` are the places of the utterances that records were made of, if any."""

    records: list[Utterance]
    released: float
    origins: list[int] | None


def rewrite(strategy: MeasuredStrategy, utterances: Sequence[Utterance], seed: int) -> Rewritten:
    """What the strategy makes of the utterances; the same seed gives the same result."""
    if strategy.name == NONE:
        return Rewritten(list(utterances), 1.0, list(range(len(utterances))))
    secret = Secret(hashlib.sha256(f"rewrite {seed}".encode()).digest())
    member = strategy.make()
    member.setup()
    if isinstance(member, ReleasesTemplates):
        records, covered = release(member, utterances, "slu", secret, str(seed))
        return Rewritten(records, covered / len(utterances), None)
    made = [
        (place, one) for place, one in enumerate(_rewritten(member, strategy, utterances, secret)) if one is not None
    ]
    return Rewritten([one for _, one in made], len(made) / len(utterances), [place for place, _ in made])


def _rewritten(
    member: Any, strategy: MeasuredStrategy, utterances: Sequence[Utterance], secret: Secret
) -> Iterator[Utterance | None]:
    """Each utterance for itself; None where it was refused."""
    if strategy.name == "adept":
        for begin in range(0, len(utterances), AT_ONCE):
            yield from member.rewrite_all(utterances[begin : begin + AT_ONCE], secret)
        return
    for utterance in utterances:
        try:
            yield (
                chain.replaced(member, utterance, secret)
                if strategy.name == REPLACE
                else member.rewrite(utterance, secret)
            )
        except Refusal:
            yield None


@dataclass(frozen=True)
class MeasuredRewrite:
    """One row of the study: a strategy, an epsilon, a corpus and a seed; what learners get and attackers find."""

    corpus: str
    strategy: str
    epsilon: float | None
    guarantee: str
    seed: int
    released: float
    intent_accuracy: float
    intent_interval: float  # half of the 95 % interval of the test set
    slot_f1: float | None
    membership_auc: float
    membership_low: float
    membership_high: float
    triples: dict[str, float]
    found_among_1000: float | None
    ladder: dict[str, float]
    public: int = 0  # sentences that the learner had besides

    def as_dict(self) -> dict[str, Any]:
        """The row for rewrite.json."""
        return dataclasses.asdict(self)


def measure(
    corpus: str, strategy: MeasuredStrategy, train: Sequence[Utterance], test: Sequence[Sentence], seed: int, slots: int = 0,
    public: Sequence[Utterance] = (),
) -> MeasuredRewrite:  # fmt: skip
    """`slots`: epochs of the reader that finds slots; 0 leaves slots out."""
    made = rewrite(strategy, train, seed)
    learnt = [*made.records, *public]
    accuracy = _Classifier(learnt).accuracy(test)
    attack = _membership(strategy, train, seed, public)
    return MeasuredRewrite(
        corpus, strategy.name, strategy.epsilon, strategy.guarantee(corpus), seed, made.released,
        accuracy, 1.96 * math.sqrt(accuracy * (1 - accuracy) / len(test)),
        _slot_f1(learnt, test, slots, seed) if slots else None,
        attack.auc.value, attack.auc.low, attack.auc.high,
        surviving_triples(train, made.records), found_again(train, made, seed), dict(strategy.ladder),
        len(public),
    )  # fmt: skip


class _Classifier:
    """Bag of words, logistic regression by stochastic descent. Of fewer than two intents it has nothing to learn."""

    def __init__(self, records: Sequence[Utterance]):
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import SGDClassifier

        self._bag = CountVectorizer(token_pattern=r"\S+", binary=True)
        known = [record for record in records if record.intent]
        self._only = known[0].intent if known else ""
        self._model = None
        if len({record.intent for record in known}) > 1:
            counts = self._bag.fit_transform([record.text.casefold() for record in known])
            model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=15, tol=None, random_state=0)
            self._model = model.fit(counts, [record.intent for record in known])

    def accuracy(self, test: Sequence[Sentence]) -> float:
        texts = [" ".join(one.words).casefold() for one in test]
        answers = [self._only] * len(test) if self._model is None else self._model.predict(self._bag.transform(texts))
        return float(np.mean([answer == one.intent for answer, one in zip(answers, test, strict=True)]))

    def top_scores(self, utterances: Sequence[Utterance]) -> np.ndarray:
        if self._model is None:
            return np.zeros((len(utterances), TOP))
        scores = self._model.predict_proba(self._bag.transform([one.text.casefold() for one in utterances]))
        best = np.sort(scores, axis=1)[:, ::-1][:, :TOP]
        return np.pad(best, ((0, 0), (0, TOP - best.shape[1])))


def _membership(
    strategy: MeasuredStrategy, utterances: Sequence[Utterance], seed: int, public: Sequence[Utterance] = ()
) -> Any:
    """Four parts: in and out of the corpus under attack, in and out of the attacker's own."""
    order = np.random.default_rng(seed).permutation(len(utterances))
    parts = [[utterances[at] for at in part] for part in np.array_split(order, 4)]
    features = []
    for inside, outside, key in ((parts[0], parts[1], seed), (parts[2], parts[3], seed + 1000)):
        model = _Classifier([*rewrite(strategy, inside, key).records, *public])
        features += [model.top_scores(inside), model.top_scores(outside)]
    return shadow_attack(features[2], features[3], features[0], features[1])


def _slot_f1(records: Sequence[Utterance], test: Sequence[Sentence], epochs: int, seed: int) -> float | None:
    from sottovoce.models.evaluation.metrics.understanding import IntentReader, ReaderTraining

    sentences = [sentence_of(one.text, one.slots, one.intent) for one in records if one.text]
    return IntentReader(ReaderTraining(epochs=epochs)).fit(sentences, seed).measure(test).slot_f1 if sentences else 0.0


def _triples(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words[at : at + TRIPLE]) for at in range(len(words) - TRIPLE + 1)}


def surviving_triples(utterances: Sequence[Utterance], records: Sequence[Utterance]) -> dict[str, float]:
    """Of the word triples of the corpus the share that stands somewhere in the result, by how many utterances have them."""
    counts = Counter(triple for one in utterances for triple in _triples(one.text))
    left = {triple for record in records for triple in _triples(record.text)}
    found = {}
    for name, least, most in RARITY:
        own = [triple for triple, count in counts.items() if least <= count <= most]
        found[name] = sum(triple in left for triple in own) / len(own) if own else 0.0
    return found


def found_again(utterances: Sequence[Utterance], made: Rewritten, seed: int) -> float | None:
    """How often the rewriting of an utterance is the nearest to it among a thousand, by cosine of weighed words; ties are
    shared. None where records belong to nobody."""
    if made.origins is None or not made.records:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    chosen = np.random.default_rng(seed).permutation(len(made.records))[:AMONG]
    originals = [utterances[made.origins[at]].text.casefold() for at in chosen]
    rewritten = [made.records[at].text.casefold() for at in chosen]
    weigh = TfidfVectorizer(token_pattern=r"\S+").fit(originals + rewritten)
    alike = (weigh.transform(originals) @ weigh.transform(rewritten).T).toarray()
    best = alike.max(axis=1, keepdims=True) - 1e-9
    hits = np.diag(alike) >= best[:, 0]
    return float(np.mean(hits / (alike >= best).sum(axis=1)))
