"""A dialogue manager from the `dm` sink: which act or intent comes next, from the dialogue so far.

A row is a dialogue (`turns` of text and intent), or in JSON lines a turn with its `dialogue_id`. An act that follows is learned
where the turn that follows has a label, the assistant's or the user's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Source
from sottovoce.models.training.networks.words import bucket_of
from sottovoce.models.training.rows import Row
from sottovoce.models.training.tasks.task import Fault, Task, TaskCorpus, name_of
from sottovoce.models.training.units import join_people

if TYPE_CHECKING:
    from sottovoce.models.training.batches import NamedBatch
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.networks.turns import TurnsNetwork
    from sottovoce.models.training.train_settings import TrainSettings

ROWS = 64
Turn = tuple[tuple[str, ...], str | None]  # words, label


@dataclass(frozen=True, slots=True, repr=False)
class Dialogue:
    """One dialogue as an example; its repr shows no word of it."""

    turns: tuple[Turn, ...]
    source: Source
    speaker: str | None = None

    def __repr__(self) -> str:
        return "<Dialogue: sensitive>"

    @property
    def content(self) -> tuple[str, ...]:
        """Every word and every act of the dialogue, in order."""
        return tuple(text for words, act in self.turns for text in (*words, str(act)))

    @property
    def following(self) -> tuple[str | None, ...]:
        """The act after each turn but the last; None where the turn that follows has no label."""
        return tuple(act for _, act in self.turns[1:])


@dataclass(frozen=True)
class Acts:
    """The acts that a model can answer with, in the order of its outputs."""

    acts: tuple[str, ...]


class DialogueManagement(Task):
    """Trains a model that tells the next act of a dialogue."""

    sink, columns, default_model = "dm", frozenset({"turns"}), "turns"
    examples = "dialogues"
    left_out_because = "are dialogues in which no labelled turn follows another turn"
    publishes = "the names of acts (intents)"
    judged_by = "error"

    def read(self, rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
        found: dict[str, tuple[Source, list[Turn], set[str]]] = {}
        for source, row in rows:
            if split is not None and row.get("split") != split:
                continue
            try:
                name, turns = _turns(row, source)
            except Fault as fault:
                raise CorpusError(f"{source.file}: line {source.line}: {fault}") from None
            _, known, speakers = found.setdefault(name, (source, [], set()))
            known += turns
            speakers |= {str(row["speaker"])} if row.get("speaker") is not None else set()
        # whoever talks in two dialogues makes one unit of them: nobody may be in two units
        whose = join_people((name, person) for name, (_, _, people) in found.items() for person in sorted(people))
        dialogues = [Dialogue(tuple(turns), source, whose.get(name)) for name, (source, turns, _) in found.items()]
        usable = [dialogue for dialogue in dialogues if any(dialogue.following)]
        return TaskCorpus(usable, len(dialogues) - len(usable))

    def schema(self, train: Sequence[Dialogue], settings: TrainSettings) -> Acts:
        used = {act for dialogue in train for _, act in dialogue.turns if act}
        if len({act for dialogue in train for act in dialogue.following if act}) == 1:
            raise CorpusError(
                f"data: in all {len(train)} dialogues the same act follows: there is nothing to tell apart"
            )
        acts = settings.intents or tuple(sorted(used))
        if used - set(acts):
            raise CorpusError(f"data: {len(used - set(acts))} acts are not among the {len(acts)} declared `intents`")
        return Acts(acts)

    def load_schema(self, values: Mapping[str, Any]) -> Acts:
        """The acts that an exported model lists, in its order; KeyError where it lists none."""
        return Acts(tuple(values["acts"]))

    def declared(self, settings: TrainSettings) -> bool:
        return settings.intents is not None

    def fits(self, example: Dialogue, schema: Acts) -> bool:
        return {act for _, act in example.turns if act} <= set(schema.acts)

    def encode(self, examples: Sequence[Dialogue], member: Any, schema: Acts) -> list[dict[str, np.ndarray]]:
        number = {act: place for place, act in enumerate(schema.acts, 1)}
        rows = []
        for dialogue in examples:
            read = dialogue.turns[:-1][-member.longest :]
            words = np.zeros((len(read), member.longest_turn), dtype=np.int64)
            for row, (said, _) in zip(words, read, strict=True):
                kept = [bucket_of(word, member.buckets) for word in said[: member.longest_turn]]
                row[: len(kept)] = kept
            acts = np.array([number.get(act or "", 0) for _, act in read], dtype=np.int64)
            targets = [number.get(act or "", 0) for act in dialogue.following[-member.longest :]]
            rows.append({"words": words, "acts": acts, "targets": np.array(targets, dtype=np.int64)})
        return rows

    def collate(self, rows: Sequence[Any], weights: Sequence[float] | None = None) -> NamedBatch:
        """One batch of dialogues padded to the longest; rows weigh the same where no weights are given."""
        from sottovoce.models.training.batches import collate_named

        return collate_named(rows, weights)

    def evaluate(
        self, network: TurnsNetwork, rows: Sequence[Any], examples: Sequence[Dialogue], schema: Acts
    ) -> dict[str, float]:
        """`majority_error` is what always answering the act that is most frequent among these would err by."""
        pairs = [
            pair for row, said in zip(rows, self._scores(network, rows), strict=True) for pair in _pairs(row, said)
        ]
        if not pairs:
            return {"error": 1.0, "majority_error": 0.0, "acts": 0, "examples": len(rows)}
        most = Counter(wanted for wanted, _ in pairs).most_common(1)[0][1]
        wrong = sum(wanted != answer for wanted, answer in pairs)
        return {
            "error": wrong / len(pairs),
            "majority_error": 1 - most / len(pairs),
            "acts": len(pairs),
            "examples": len(rows),
        }

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        if scores["error"] < scores["majority_error"]:
            return None
        return f"it errs {scores['error']:.3g} of the time, and always naming the commonest act {scores['majority_error']:.3g}"

    def confidence(self, network: TurnsNetwork, rows: Sequence[Any]) -> Confidence:
        from sottovoce.models.training.loop.evaluation import Confidence

        found = []
        for row, scores in zip(rows, self._scores(network, rows), strict=True):
            logs = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
            true = [logs[place, wanted - 1] for place, wanted in enumerate(row["targets"]) if wanted > 0]
            found.append([np.mean(true), np.min(true), np.max(true)])
        return Confidence(np.array(found), np.array(found)[:, 0])

    def canary(self, examples: Sequence[Dialogue], draw: np.random.Generator) -> Dialogue:
        """A dialogue whose acts are those of many others."""
        acts = [act for dialogue in examples for _, act in dialogue.turns if act]
        one = examples[int(draw.integers(len(examples)))]
        drawn = [acts[at] for at in draw.integers(len(acts), size=len(one.turns))]
        turns = ((words, other if act else None) for (words, act), other in zip(one.turns, drawn, strict=True))
        return replace(one, turns=tuple(turns))

    def predict(
        self, network: TurnsNetwork, member: Any, schema: Acts, lines: Iterable[str]
    ) -> Iterator[dict[str, Any]]:
        """Lines are the turns of one dialogue; an empty line begins another one."""
        so_far: list[Turn] = []
        for number, text in enumerate(lines, 1):
            if not text.strip():
                so_far = []
                continue
            so_far.append((tuple(text.lower().split()), None))
            dialogue = Dialogue((*so_far, ((), None)), Source("input", number))
            scores = self._scores(network, self.encode([dialogue], member, schema))[0][-1]
            share = np.exp(scores - np.logaddexp.reduce(scores))
            best = int(share.argmax())
            yield {"text": text, "next": schema.acts[best], "score": round(float(share[best]), 4)}

    @staticmethod
    def _scores(network: TurnsNetwork, rows: Sequence[Any]) -> list[np.ndarray]:
        import torch

        from sottovoce.models.training.batches import collate_named

        device, was_training, found = next(network.parameters()).device, network.training, []
        network.eval()
        with torch.no_grad():
            for begin in range(0, len(rows), ROWS):
                batch = collate_named(rows[begin : begin + ROWS]).to(device)
                scores = network.scores(batch).double().cpu().numpy()
                found += [row[:length] for row, length in zip(scores, batch.lengths["acts"].tolist(), strict=True)]
        network.train(was_training)
        return found


def _pairs(row: Mapping[str, np.ndarray], scores: np.ndarray) -> list[tuple[int, int]]:
    """(act that followed, act that the model names) wherever a labelled turn follows."""
    answers = scores.argmax(-1) + 1
    return [(int(want), int(said)) for want, said in zip(row["targets"], answers, strict=True) if want > 0]


def _turns(row: Mapping[str, Any], source: Source) -> tuple[str, list[Turn]]:
    if "turns" in row:
        if not isinstance(row["turns"], list) or not all(isinstance(turn, dict) for turn in row["turns"]):
            raise Fault("turns: expected a list of objects with text and intent")
        return f"{source.file}:{source.line}", [_turn(turn) for turn in row["turns"]]
    if row.get("dialogue_id") is None:
        raise Fault("expected `turns`, or a `dialogue_id` that joins turns")
    return str(row["dialogue_id"]), [_turn(row)]


def _turn(turn: Mapping[str, Any]) -> Turn:
    text = turn.get("text", turn.get("tokens"))
    if isinstance(text, str):
        text = text.split()
    if not isinstance(text, list) or not all(isinstance(word, str) for word in text):
        raise Fault("a turn has no `text` and no `tokens`")
    return tuple(word.lower() for word in text), name_of(turn["intent"], "intent") if turn.get("intent") else None
