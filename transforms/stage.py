"""The one DoFn with logic: run a step over a batch, count it, time it, and turn every error into a scrubbed Failure.

Elements are batches (lists), because Beam spends about as much on an element as a step does. A step is built on the
driver and pickled; `setup()` runs on the worker. Beam's own dead letter (`with_exception_handling`) writes the element,
its repr and the traceback: it is never used here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import apache_beam as beam
from apache_beam.metrics import Metrics

from sottovoce.models.errors import reason_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Failure, Source, Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms import members, progress
from sottovoce.transforms.job import Job

PASSED, FAILURES, TALLY = "passed", "failures", "tally"


class Outputs(NamedTuple):
    """What every transform of the graph returns: batches that go on, batches of failures, and tallies."""

    passed: Any
    failures: tuple[Any, ...]
    tallies: tuple[Any, ...]


def uncounted(_: Any) -> Tally:
    """The tally of a write that counts nothing: it only makes the tally of the run wait for that write."""
    return Tally()


class Step(Protocol):
    """What a stage does to its items. `many`, where a step has it, takes a whole batch at once (models like that)."""

    name: str

    def setup(self) -> None: ...

    def one(self, item: Any) -> Any: ...


def make_failure(secret: Secret, stage: str, key: str, source: Source, error: BaseException) -> Failure:
    """`key` identifies the record; only its keyed hash is kept."""
    reason, allowed = reason_of(error)
    return Failure(secret.token("failure", stage, key), stage, reason, allowed, source.file, source.line)


def utterance_failure(secret: Secret, stage: str, utterance: Utterance, error: BaseException) -> Failure:
    key = f"{utterance.dialogue_id}\0{utterance.id}\0{utterance.source.file}\0{utterance.source.line}"
    return make_failure(secret, stage, key, utterance.source, error)


class Stage(beam.PTransform):
    """Apply `step` to batches; items are Utterances or carry one as `.utterance`."""

    def __init__(self, step: Step, job: Job):
        super().__init__()
        self._do = _Run(step, job.secret, job.progress_dir)
        self._sides: tuple[Any, ...] = ()  # at most one side input, which the step takes by its method `use`

    def expand(self, batches: beam.PCollection) -> Outputs:
        parts = batches | "Run" >> beam.ParDo(self._do, *self._sides).with_outputs(FAILURES, TALLY, main=PASSED)
        return Outputs(parts[PASSED], (parts[FAILURES],), (parts[TALLY],))


def _no_audio(_: Any) -> float:
    return 0.0


class _Run(beam.DoFn):
    def __init__(self, step: Step, secret: Secret, progress_dir: str | None):
        self._step, self._secret, self._progress_dir = step, secret, progress_dir
        self._received = Metrics.counter("sottovoce", f"{step.name}_received")
        self._failed = Metrics.counter("sottovoce", f"{step.name}_failed")
        self._batch_ms = Metrics.distribution("sottovoce", f"{step.name}_batch_ms")

    def setup(self) -> None:
        self._step.setup()

    def process(self, batch: Sequence[Any], side: Any = None) -> Iterator[Any]:
        progress.stop_if_asked(self._progress_dir)
        begin = time.perf_counter()
        if side is not None:
            self._step.use(side)  # type: ignore[attr-defined]
        passed, failures = [], []
        for item, outcome in self._outcomes(batch):
            if isinstance(outcome, Exception):
                utterance = getattr(item, "utterance", item)
                failures.append(utterance_failure(self._secret, self._step.name, utterance, outcome))
            else:
                passed.append(outcome)
        seconds = time.perf_counter() - begin
        self._received.inc(len(batch))
        self._failed.inc(len(failures))
        self._batch_ms.update(round(seconds * 1000))
        progress.note(self._progress_dir, self._step.name, len(batch), len(failures))
        if passed:
            yield passed
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        tally = Tally.of(
            self._step.name,
            received=len(batch),
            passed=len(passed),
            reasons=[failure.reason for failure in failures],
            seconds=seconds,
        )
        tally.loads.update(members.take_loads())
        tally.audio_s = sum(getattr(self._step, "audio_seconds", _no_audio)(outcome) for outcome in passed)
        yield beam.pvalue.TaggedOutput(TALLY, tally)

    def teardown(self) -> None:
        progress.flush()

    def _outcomes(self, batch: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        together = self._all_at_once(batch)
        if together is not None:
            yield from zip(batch, together, strict=True)
            return
        for item in batch:
            try:
                yield item, self._step.one(item)
            except Exception as error:  # noqa: BLE001 - whatever went wrong, nothing of the item may get out
                yield item, error

    def _all_at_once(self, batch: Sequence[Any]) -> list[Any] | None:
        """The outcomes of a step that takes whole batches; None where it cannot, or where one item spoils the batch."""
        many = getattr(self._step, "many", None)
        if many is None:
            return None
        try:
            outcomes = many(batch)
        except Exception:  # noqa: BLE001 - each item is then tried alone, and the bad one is told from its neighbours
            return None
        return outcomes if len(outcomes) == len(batch) else None
