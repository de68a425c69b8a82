"""Intents and slots from the `slu` sink: what a voice assistant understands of a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Source
from sottovoce.models.training.examples import TOKEN, Example, Labels, check_labels, labels_of, read_examples
from sottovoce.models.training.rows import SLU, SLU_COLUMNS, Row
from sottovoce.models.training.tasks.task import Task, TaskCorpus, invented_word

if TYPE_CHECKING:
    import numpy as np

    from sottovoce.models.training.batches import Batch, Encoded
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.networks.network import IntentSlotNetwork
    from sottovoce.models.training.train_settings import TrainSettings

CANARY_WORDS = 4
TINY = 1e-45  # of a probability: the least that single precision holds


class Understanding(Task):
    """Trains a model that tells the intent of a sentence and the slots in it."""

    sink, columns, default_model = SLU, SLU_COLUMNS, "clc"
    examples = "labelled examples"
    left_out_because = "have no intent"
    publishes = "the names of intents and slots"
    judged_by = "ser"

    def read(self, rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
        return read_examples(rows, split)

    def schema(self, train: Sequence[Example], settings: TrainSettings) -> Labels:
        if len({example.intent for example in train}) == 1:
            raise CorpusError(f"data: all {len(train)} examples have the same intent: there is nothing to tell apart")
        found = labels_of(train)
        labels = Labels(settings.intents or found.intents, found.slots if settings.slots is None else settings.slots)
        check_labels(train, labels)
        return labels

    def load_schema(self, values: Mapping[str, Any]) -> Labels:
        """The intents and slots that an exported model lists, in its order; KeyError where either list is missing."""
        return Labels(tuple(values["intents"]), tuple(values["slots"]))

    def declared(self, settings: TrainSettings) -> bool:
        return settings.intents is not None and settings.slots is not None

    def fits(self, example: Example, schema: Labels) -> bool:
        return example.intent in schema.intents and set(example.tags) <= set(schema.tags)

    def encode(self, examples: Sequence[Example], member: Any, schema: Labels) -> list[Encoded]:
        from sottovoce.models.training.batches import encode

        return encode(examples, member.encoder(), schema)

    def collate(self, rows: Sequence[Encoded], weights: Sequence[float] | None = None) -> Batch:
        """One batch of sentences padded to the longest; rows weigh the same where no weights are given."""
        from sottovoce.models.training.batches import collate

        return collate(rows, weights)

    def evaluate(
        self, network: IntentSlotNetwork, rows: Sequence[Encoded], examples: Sequence[Example], schema: Labels
    ) -> dict[str, float]:
        from sottovoce.models.training.loop.evaluation import evaluate

        return asdict(evaluate(network, rows, examples, schema))

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        if scores["intents_answered"] == 1:
            return "it answers every sentence with the same intent"
        return "it finds no slot (slot F1 is 0)" if scores["slot_f1"] == 0 else None

    def confidence(self, network: IntentSlotNetwork, rows: Sequence[Encoded]) -> Confidence:
        from sottovoce.models.training.loop.evaluation import confidence

        return confidence(network, rows)

    def canary(self, examples: Sequence[Example], draw: np.random.Generator) -> Example:
        """Words that nobody says, under tags and an intent of other sentences: what a model knows of them it has from here."""
        one, *others = (examples[at] for at in draw.integers(len(examples), size=CANARY_WORDS + 1))
        tags = tuple(_begins(str(draw.choice(example.tags))) for example in others)
        return replace(one, tokens=tuple(invented_word(draw) for _ in tags), tags=tags)

    def predict(
        self, network: IntentSlotNetwork, member: Any, schema: Labels, lines: Iterable[str]
    ) -> Iterator[dict[str, Any]]:
        from sottovoce.models.training.loop.scores import slots_of

        for number, line in enumerate(lines, 1):
            places = [found.span() for found in TOKEN.finditer(line)]
            if not places:
                yield {"text": line, "intent": None, "log_odds": None, "slots": []}
                continue
            tokens = tuple(line[begin:end] for begin, end in places)
            example = Example(tokens, ("O",) * len(tokens), "", Source("input", number))
            answer = network.answer(self.collate(self.encode([example], member, schema)))
            best = int(answer.intents[0].argmax())
            said = slots_of([schema.tags[tag] for tag in answer.tags[0].tolist()])
            slots = [{"name": name, "text": line[places[first][0] : places[last - 1][1]]} for first, last, name in said]
            score, others = float(answer.intents[0, best]), answer.intents[0].double()
            others[best] = 0.0  # their sum has the digits that a score near 1 has lost
            odds = math.log(max(score, TINY)) - math.log(max(float(others.sum()), TINY))
            yield {
                "text": line,
                "intent": schema.intents[best],
                "score": round(score, 4),
                "log_odds": round(odds, 4),
                "slots": slots,
            }


def _begins(tag: str) -> str:
    """A tag that needs none before it."""
    return f"B{tag[1:]}" if tag.startswith("I-") else tag
