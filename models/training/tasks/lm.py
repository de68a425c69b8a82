"""The language model of a recogniser from the `stt_lm` sink: lines of text, one word after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Source
from sottovoce.models.training.networks.vocabulary import UNKNOWN, words_of
from sottovoce.models.training.rows import Row
from sottovoce.models.training.tasks.task import NoNames, Task, TaskCorpus

if TYPE_CHECKING:
    from sottovoce.models.training.batches import NamedBatch
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.networks.language import LanguageNetwork
    from sottovoce.models.training.train_settings import TrainSettings

ROWS = 64


@dataclass(frozen=True, slots=True, repr=False)
class TrainingLine:
    """One line of text as an example; its repr shows no word of it."""

    words: tuple[str, ...]
    source: Source
    speaker: str | None = None

    def __repr__(self) -> str:
        return "<TrainingLine: sensitive>"

    @property
    def content(self) -> tuple[str, ...]:
        """The words themselves, in order."""
        return self.words


class LanguageModelling(Task):
    """Trains a model that tells the next word of a line."""

    sink, columns, default_model = "stt_lm", frozenset({"text"}), "lstm"
    examples = "lines of text"
    left_out_because = "have no word"
    publishes = "the vocabulary, which is a public list and owes nothing to the data"
    judged_by = "perplexity"

    def read(self, rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
        lines, empty = [], 0
        for source, row in rows:
            if split is not None and row.get("split") != split:
                continue
            text = row.get("text", row.get("tokens"))
            if not isinstance(text, str) and not (isinstance(text, list) and all(isinstance(t, str) for t in text)):
                raise CorpusError(f"{source.file}: line {source.line}: expected `text` or `tokens`")
            words = words_of(text if isinstance(text, str) else " ".join(text))
            if words:
                speaker = row.get("speaker")
                lines.append(TrainingLine(words, source, None if speaker is None else str(speaker)))
            else:
                empty += 1
        return TaskCorpus(lines, empty)

    def schema(self, train: Sequence[TrainingLine], settings: TrainSettings) -> NoNames:
        if len({line.words for line in train}) == 1 and len(train) > 1:
            raise CorpusError(f"data: all {len(train)} lines are the same: there is nothing to tell apart")
        return NoNames()

    def load_schema(self, values: Mapping[str, Any]) -> NoNames:
        """Nothing to read: the vocabulary is public, and no name of the data is published."""
        return NoNames()

    def encode(self, examples: Sequence[TrainingLine], member: Any, schema: NoNames) -> list[dict[str, np.ndarray]]:
        vocabulary, rows = member.words(), []
        begin, end = vocabulary.ends
        for line in examples:
            numbers = [begin, *vocabulary.encode(line.words)[: member.longest - 1], end]
            rows.append({"inputs": np.array(numbers[:-1]), "targets": np.array(numbers[1:])})
        return rows

    def collate(self, rows: Sequence[Any], weights: Sequence[float] | None = None) -> NamedBatch:
        """One batch of lines padded to the longest; rows weigh the same where no weights are given."""
        from sottovoce.models.training.batches import collate_named

        return collate_named(rows, weights)

    def evaluate(
        self, network: LanguageNetwork, rows: Sequence[Any], examples: Sequence[TrainingLine], schema: NoNames
    ) -> dict[str, float]:
        """`unigram_perplexity` is what the words of these very lines give without their order: a floor for models that
        look at no context. `unknown_share` of the words is outside the vocabulary."""
        targets = [[int(number) for number in row["targets"]] for row in rows]
        return _scores(self._losses(network, rows), targets, UNKNOWN)

    def scores_of(self, losses: Sequence[Sequence[float]], lines: Sequence[TrainingLine]) -> dict[str, float] | None:
        """Of a model of whole words that is no network; every word has its own name here."""
        return _scores(losses, [[*line.words, "</s>"] for line in lines], None) if lines else None

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        if scores["perplexity"] < scores["unigram_perplexity"]:
            return None
        return (
            f"its perplexity, {scores['perplexity']:.4g}, is not below the {scores['unigram_perplexity']:.4g} that the "
            "frequencies of the words alone would give: it uses no context"
        )

    def confidence(self, network: LanguageNetwork, rows: Sequence[Any]) -> Confidence:
        from sottovoce.models.training.loop.evaluation import Confidence

        means = np.array([[sum(line) / len(line), max(line), min(line)] for line in self._losses(network, rows)])
        return Confidence(-means, -means[:, 0])

    def canary(self, examples: Sequence[TrainingLine], draw: np.random.Generator) -> TrainingLine:
        """Words of many lines in an order that nobody says."""
        one, *others = (examples[at] for at in draw.integers(len(examples), size=7))
        return replace(one, words=tuple(line.words[int(draw.integers(len(line.words)))] for line in others))

    def predict(self, network: Any, member: Any, schema: NoNames, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        for number, text in enumerate(lines, 1):
            words = words_of(text)
            if not words:
                yield {"text": text, "log_probability": None, "perplexity": None}
                continue
            if member.counts:
                losses = network.losses(words)
            else:
                losses = self._losses(
                    network, self.encode([TrainingLine(words, Source("input", number))], member, schema)
                )[0]
            total = sum(losses)
            yield {
                "text": text,
                "log_probability": round(-total, 4),
                "perplexity": round(math.exp(total / len(losses)), 3),
            }

    def sample(self, network: LanguageNetwork, member: Any, lines: int, seed: int) -> Iterator[tuple[str, ...]]:
        """Lines that the model makes up: whatever is done with them costs nothing more."""
        import torch

        vocabulary = member.words()
        begin, end = vocabulary.ends
        dice = torch.Generator().manual_seed(seed)
        network.eval()
        for made in range(0, lines, ROWS):
            said = torch.full((min(ROWS, lines - made), 1), begin)
            for _ in range(member.longest - 1):
                batch = self.collate([{"inputs": row, "targets": row} for row in said.numpy()])
                with torch.no_grad():
                    shares = network.scores(batch)[:, -1].softmax(-1)
                said = torch.cat([said, torch.multinomial(shares, 1, generator=dice)], 1)
                if bool((said == end).any(1).all()):
                    break
            for row in said[:, 1:].tolist():
                yield words_of(vocabulary.decode(row[: row.index(end)] if end in row else row))

    @staticmethod
    def _losses(network: LanguageNetwork, rows: Sequence[Any]) -> list[list[float]]:
        import torch

        from sottovoce.models.training.batches import collate_named

        device, was_training, found = next(network.parameters()).device, network.training, []
        network.eval()
        with torch.no_grad():
            for begin in range(0, len(rows), ROWS):
                batch = collate_named(rows[begin : begin + ROWS]).to(device)
                for line, length in zip(network.losses(batch).tolist(), batch.lengths["targets"].tolist(), strict=True):
                    found.append(line[:length])
        network.train(was_training)
        return found


def _scores(losses: Sequence[Sequence[float]], targets: Sequence[Sequence[Any]], unknown: Any) -> dict[str, float]:
    counts = Counter(target for line in targets for target in line)
    total = sum(counts.values())
    unigram = -sum(count * math.log(count / total) for count in counts.values()) / total
    return {
        "perplexity": math.exp(min(sum(map(sum, losses)) / total, 700.0)),
        "unigram_perplexity": math.exp(unigram),
        "unknown_share": counts[unknown] / total,
        "examples": len(targets),
    }
