"""Leave out the dialogues that an earlier run has taken. A join in the graph: neither side stands in memory.

The rule for a dialogue that grew: it stays as it was released. Its new turns are withheld and counted, because a second
release of one dialogue would show which records belong together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from sottovoce.models.forget.whose import part_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.runs.places import INDEX
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import PASSED, TALLY, Outputs, uncounted
from sottovoce.transforms.nightly.state import DIALOGUES, DIALOGUES_PER_TABLE, Key, ReadState, WriteState, dialogue_key

STAGE, WITHHELD = "skip taken", "withheld"
# Of turns that were read and withheld: so that the counts of a night stay true when somebody is forgotten.
WITHHELD_TURNS = pa.schema(
    [("dialogue", pa.string()), ("speaker", pa.string()), ("reason", pa.string()), ("turns", pa.int64())]
)


class RememberTaken(beam.PTransform):
    """Write down, by keyed hash, which dialogues this run takes."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // DIALOGUES_PER_TABLE

    def expand(self, batches: beam.PCollection) -> beam.PCollection:
        """The paths of the tables, with the number of turns of each dialogue and speaker."""
        job = self._job
        pairs = batches | "Count" >> beam.Map(_count_turns, job.secret, job.forget)
        return pairs | WriteState(job.places, "dialogues", DIALOGUES, self._shards)


def _count_turns(batch: Sequence[Utterance], secret: Secret, by_speaker: bool) -> list[tuple[Key, tuple[int]]]:
    """(dialogue, speaker) -> turns; the speaker stays empty in a run that keeps no index."""
    turns = Counter((utterance.speaker_id, utterance.dialogue_id) for utterance in batch)
    tokens = ((part_of(secret, *names), count) for names, count in turns.items())
    return [((part.dialogue, part.speaker if by_speaker else ""), (count,)) for part, count in tokens]


class SkipTaken(beam.PTransform):
    """Batches of Utterances -> batches of those whose dialogue no earlier run has taken."""

    def __init__(self, job: Job, records: int):
        super().__init__()
        self._job, self._shards = job, 1 + records // DIALOGUES_PER_TABLE

    def expand(self, batches: beam.PCollection) -> Outputs:
        """Has no failures: turns that are withheld are in the tally, and in the index where the run keeps one."""
        job = self._job
        found = batches | "ByDialogue" >> beam.FlatMap(_by_dialogue, job.secret)
        taken = batches.pipeline | "Taken" >> ReadState(job.taken)
        parts = (
            {"found": found, "taken": taken}
            | "Join" >> beam.CoGroupByKey()
            | "KeepNew"
            >> beam.ParDo(_KeepNew(job.input.records_per_batch, job.secret)).with_outputs(TALLY, WITHHELD, main=PASSED)
        )
        tallies = [parts[TALLY]]
        if job.forget:
            written = parts[WITHHELD] | "Index" >> WriteState(job.places, WITHHELD, WITHHELD_TURNS, self._shards, INDEX)
            tallies.append(written | "Indexed" >> beam.Map(uncounted))
        return Outputs(parts[PASSED], (), tuple(tallies))


def _by_dialogue(batch: Sequence[Utterance], secret: Secret) -> Iterator[tuple[str, list[Utterance]]]:
    dialogues: dict[str, list[Utterance]] = {}
    for utterance in batch:
        dialogues.setdefault(utterance.dialogue_id, []).append(utterance)
    for turns in dialogues.values():
        yield dialogue_key(secret, turns[0]), turns


def _by_speaker(turns: Sequence[Utterance], secret: Secret, reason: str) -> list[tuple[Key, tuple[int]]]:
    counts = Counter((turn.speaker_id, turn.dialogue_id) for turn in turns)
    tokens = ((part_of(secret, *names), count) for names, count in counts.items())
    return [((part.dialogue, part.speaker, reason), (count,)) for part, count in tokens]


class _KeepNew(beam.DoFn):
    """Batches again what is new: the steps that follow like their batches full."""

    def __init__(self, records_per_batch: int, secret: Secret):
        self._records_per_batch, self._secret = records_per_batch, secret

    def start_bundle(self) -> None:
        self._waiting: list[Utterance] = []

    def process(self, joined: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[Any]:
        turns = [turn for batch in joined[1]["found"] for turn in batch]
        taken = [number for _, number in joined[1]["taken"]]  # of each speaker
        if not turns:
            return
        reason = "dialogue_grew" if len(turns) > sum(taken) else "dialogue_taken"
        withheld = [reason] * len(turns) if taken else []
        yield beam.pvalue.TaggedOutput(
            TALLY, Tally.of(STAGE, received=len(turns), passed=len(turns) - len(withheld), reasons=withheld)
        )
        if taken:
            yield beam.pvalue.TaggedOutput(WITHHELD, _by_speaker(turns, self._secret, reason))
        else:
            self._waiting += sorted(turns, key=lambda turn: (turn.source.file, turn.source.line))
        if len(self._waiting) >= self._records_per_batch:
            yield self._waiting
            self._waiting = []

    def finish_bundle(self) -> Iterator[Any]:
        if self._waiting:
            yield beam.transforms.window.GlobalWindows.windowed_value(self._waiting)
            self._waiting = []
