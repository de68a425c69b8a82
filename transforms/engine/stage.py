"""The one DoFn with logic: run a step over a batch, count it, time it, and turn every error into a scrubbed Failure.

Elements are batches (lists), because Beam spends about as much on an element as a step does. A step is built on the
driver and pickled; `setup()` runs on the worker. Beam's own dead letter (`with_exception_handling`) writes the element,
its repr and the traceback: it is never used here.

What is raised beside the steps (in writing, joining, counting) ends the run, and Beam puts its words into the log of the
worker, into that of the cluster and on the page of the job. `scrub_errors(pipeline)` puts every DoFn of a graph into a
shell that lets out the type and the place in the code alone. Who looks for a fault sets SOTTOVOCE_DEBUG, and then shares
the logs with nobody.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pipeline import AppliedPTransform, PipelineVisitor
from apache_beam.runners.common import DoFnSignature

from sottovoce.models.errors import DEBUG, PackageMissing, RunError, SottovoceError, reason_of, told_by_place
from sottovoce.models.forget.whose import OwnedFailure, Part, part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import CANARY, Source, Utterance
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine import members, progress
from sottovoce.transforms.engine.job import Job

PASSED, FAILURES, TALLY = "passed", "failures", "tally"


class Outputs(NamedTuple):
    """What every transform of the graph returns: batches that go on, batches of failures, and tallies."""

    passed: Any
    failures: tuple[Any, ...]
    tallies: tuple[Any, ...]


def uncounted(_: Any) -> Tally:
    """The tally of a write that counts nothing: it only makes the tally of the run wait for that write."""
    return Tally()


def is_invented(batch: Sequence[Any]) -> bool:
    """Whether these are canaries, which have batches of their own: Utterances, or what carries one as `.utterance`."""
    first = batch[0]
    return (first if isinstance(first, Utterance) else first.utterance).source.file == CANARY


class Step(ABC):
    """What a stage does to its items: built on the driver, pickled, set up on the worker."""

    name: str

    def setup(self) -> None:  # noqa: B027 - most steps of a worker have nothing of their own to load
        """Load what is heavy. Called once per worker process."""

    @abstractmethod
    def one(self, item: Any) -> Any:
        """The outcome of one item; whatever it raises becomes the item's Failure."""

    def many(self, items: Sequence[Any]) -> list[Any] | None:
        """The outcomes of a whole batch, for models that like batches; None: the items are taken one by one."""
        return None

    def use(self, side: Any) -> None:
        """Takes the stage's side input, before the batch that came with it."""
        raise NotImplementedError(f"the stage {self.name} has no use for a side input")

    def count(self, tally: Tally, item: Any, outcome: Any) -> None:  # noqa: B027 - most steps count nothing more
        """Adds to the tally what there is to count beside received and passed."""


def make_failure(
    secret: Secret, stage: str, key: str, source: Source, error: BaseException, part: Part
) -> OwnedFailure:
    """`key` identifies the record; only its keyed hash is kept."""
    reason, allowed = reason_of(error)
    return OwnedFailure(secret.token("failure", stage, key), stage, reason, allowed, source.file, source.line, part)


def utterance_failure(
    secret: Secret, stage: str, utterance: Utterance, error: BaseException, loaded_s: float = 0.0
) -> OwnedFailure:
    """The failure of one utterance: its keyed id, stage and reason, and nothing of its content."""
    key = f"{utterance.dialogue_id}\0{utterance.id}\0{utterance.source.file}\0{utterance.source.line}"
    part = part_of_utterance(secret, utterance)._replace(audio_s=loaded_s)
    return make_failure(secret, stage, key, utterance.source, error, part)


class Stage(beam.PTransform):
    """Apply `step` to batches; items are Utterances or carry one as `.utterance`."""

    def __init__(self, step: Step, job: Job):
        super().__init__()
        self._do = _Run(step, job.secret, job.progress_dir)
        self._sides: tuple[Any, ...] = ()  # at most one side input, which the step takes by its method `use`

    def expand(self, batches: beam.PCollection) -> Outputs:
        """What the step passed, its failures in batches, and a tally for each batch."""
        parts = batches | "Run" >> beam.ParDo(self._do, *self._sides).with_outputs(FAILURES, TALLY, main=PASSED)
        return Outputs(parts[PASSED], (parts[FAILURES],), (parts[TALLY],))


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
            self._step.use(side)
        passed, failures, tally = [], [], Tally()
        counted = not is_invented(batch)
        for item, outcome in self._outcomes(batch):
            if isinstance(outcome, Exception):
                failures.append(self._failure(item, outcome))
            else:
                passed.append(outcome)
                self._step.count(tally, item, outcome)
        if not counted:  # of canaries nothing is counted: the run is told as it would be without them
            yield from self._uncounted(passed, failures)
            return
        seconds = time.perf_counter() - begin
        self._received.inc(len(batch))
        self._failed.inc(len(failures))
        self._batch_ms.update(round(seconds * 1000))
        progress.note(self._progress_dir, self._step.name, len(batch), len(failures))
        if passed:
            yield passed
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        reasons = [failure.reason for failure in failures]
        tally.merge(
            Tally.of(self._step.name, received=len(batch), passed=len(passed), reasons=reasons, seconds=seconds)
        )
        tally.loads.update(members.take_loads())
        yield beam.pvalue.TaggedOutput(TALLY, tally)

    def _uncounted(self, passed: list[Any], failures: list[OwnedFailure]) -> Iterator[Any]:
        if passed:
            yield passed
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        yield beam.pvalue.TaggedOutput(TALLY, Tally(loads=members.take_loads()))

    def _failure(self, item: Any, error: Exception) -> OwnedFailure:
        if isinstance(item, Utterance):
            return utterance_failure(self._secret, self._step.name, item, error)
        return utterance_failure(self._secret, self._step.name, item.utterance, error, item.loaded_s)

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
            except (ImportError, RunError) as error:  # no fault of the item: every other would be refused with it
                raise _of_the_machine(error) from None
            except Exception as error:  # noqa: BLE001 - whatever went wrong, nothing of the item may get out
                yield item, error

    def _all_at_once(self, batch: Sequence[Any]) -> list[Any] | None:
        """The outcomes of a step that takes whole batches; None where it cannot, or where one item spoils the batch."""
        try:
            outcomes = self._step.many(batch)
        except (ImportError, RunError) as error:
            raise _of_the_machine(error) from None
        except Exception:  # noqa: BLE001 - each item is then tried alone, and the bad one is told from its neighbours
            return None
        return outcomes if outcomes is not None and len(outcomes) == len(batch) else None


def _of_the_machine(error: ImportError | RunError) -> RunError:
    return PackageMissing(error.name) if isinstance(error, ImportError) else error


def scrub_errors(pipeline: beam.Pipeline) -> None:
    """Call it last: steps that are added later are not covered. CombineFns and Beam's own sources are not DoFns."""
    if not os.environ.get(DEBUG):
        pipeline.visit(_PutIntoShells())


class _PutIntoShells(PipelineVisitor):
    def visit_transform(self, node: AppliedPTransform) -> None:
        step = node.transform
        if isinstance(step, beam.ParDo) and not isinstance(step.fn, _Shell):
            signature = DoFnSignature(step.fn)
            if not signature.is_stateful_dofn() and not signature.is_splittable_dofn():
                step.fn = _Shell(step.fn)


class _Shell(beam.DoFn):
    def __init__(self, inner: beam.DoFn):
        self._inner = inner

    def setup(self) -> None:
        with _without_words():
            self._inner.setup()

    def start_bundle(self) -> None:
        with _without_words():
            self._inner.start_bundle()

    def process(self, element: Any, *arguments: Any, **named: Any) -> Iterator[Any]:
        with _without_words():
            yield from self._inner.process(element, *arguments, **named) or ()

    def finish_bundle(self) -> Any:
        with _without_words():
            return list(self._inner.finish_bundle() or ())

    def teardown(self) -> None:
        with _without_words():
            self._inner.teardown()

    def _inspect_process(self) -> Any:
        """Beam asks a DoFn here which side inputs and other values it wants beside its element."""
        return self._inner.get_function_arguments("process")

    def display_data(self) -> dict[str, Any]:
        return self._inner.display_data()


@contextmanager
def _without_words() -> Iterator[None]:
    try:
        yield
    except SottovoceError:
        raise  # our own messages name things of the job, never of a record
    except ImportError as error:
        raise PackageMissing(error.name) from None
    except Exception as error:  # noqa: BLE001
        raise RunError(told_by_place(error)) from None
