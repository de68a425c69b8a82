"""Whoever wants to be told of a run, told: when it begins, when it is committed, when it failed.

What is told are counts, names of stages and sinks, fixed reasons, and the addresses that the operator typed. Never content, ids
or paths of the corpus, and of an error its type alone. An observer that cannot be reached is told of on standard error, once, and
changes nothing about the run.
"""

from __future__ import annotations

import contextlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.errors import SettingsError
from sottovoce.models.runs.committed_run import handed_on
from sottovoce.models.settings import require, resolve


@dataclass(frozen=True)
class ObserveSettings:
    """`metrics`: a file; `lineage`: a file or an http address; `traces`: an http address that takes OTLP."""

    metrics: str | None = None
    lineage: str | None = None
    traces: str | None = None

    def __post_init__(self) -> None:
        web = ("http://", "https://")
        require(
            (self.metrics is None or "://" not in self.metrics, "metrics: must be a local file"),
            (self.lineage is None or self.lineage.startswith(web) or "://" not in self.lineage,
             "lineage: must be a local file, or begin with http:// or https://"),
            (self.traces is None or self.traces.startswith(web), "traces: must begin with http:// or https://"),
        )  # fmt: skip


@dataclass(frozen=True)
class RunFacts:
    """What may be said of a run before it has begun."""

    run_id: str
    input: str  # as the operator typed them
    output: str
    runner: str
    sinks: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)  # name and type of each column


class Observer(ABC):
    """Made with where to tell, and what of."""

    def __init__(self, target: str, facts: RunFacts):
        self.target, self.facts = target, facts

    def began(self) -> None:  # noqa: B027 - a file of metrics has nothing to say yet
        """Before anything is read."""

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Around a part of the run."""
        yield

    @abstractmethod
    def ended(self, record: dict[str, Any] | None, error: BaseException | None, seconds: float) -> None:
        """With what may be handed on of the commit's record, or with the error that ended the run."""


OBSERVERS = {
    "metrics": "sottovoce.pipelines.observe.metrics_file:MetricsFile",
    "lineage": "sottovoce.pipelines.observe.lineage:Lineage",
    "traces": "sottovoce.pipelines.observe.traces:Traces",
}


class Observers:
    """All observers that a job names, as one. One that fails to be told is dropped, with a note on standard error."""

    def __init__(self, settings: ObserveSettings, facts: Callable[[], RunFacts]):
        asked = {name: getattr(settings, name) for name in OBSERVERS if getattr(settings, name)}
        self._all: dict[str, Observer] = {}
        for name, target in asked.items():
            try:
                self._all[name] = resolve(OBSERVERS[name])(target, facts())
            except ImportError as error:
                missing = f"observe.{name}: {error.name} is not installed; pip install 'sottovoce[observe]'"
                raise SettingsError([missing]) from None

    def began(self) -> None:
        self._tell(lambda observer: observer.began())

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        with contextlib.ExitStack() as around:
            for observer in self._all.values():
                around.enter_context(observer.phase(name))
            yield

    def ended(self, record: dict[str, Any] | None, error: BaseException | None, seconds: float) -> None:
        told = None if record is None else handed_on(record)  # of a crowd release the counts of rows alone
        self._tell(lambda observer: observer.ended(told, error, seconds))

    def _tell(self, tell: Callable[[Observer], None]) -> None:
        for name, observer in list(self._all.items()):
            try:
                tell(observer)
            except Exception as error:  # noqa: BLE001 - whoever looks on must not change what is looked at
                print(
                    f"note: observe.{name} could not be told ({type(error).__name__}); the run goes on", file=sys.stderr
                )
                del self._all[name]
