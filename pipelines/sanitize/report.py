"""The report of a run: one self-contained page to lay before a privacy officer.

It is made from a RunSummary alone: counts, names of stages and reasons, the ledger and the resolved job, and an example that
was invented for every report, so it can show nothing of a record. Everything is escaped; no script, no font and no
picture is fetched, so the page can be archived, mailed and printed.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from jinja2 import Environment, StrictUndefined, Template

from sottovoce.models.ledger.measured import OF_DETECTORS, Figure, figures_of
from sottovoce.models.runs.committed_run import handed_on
from sottovoce.models.text.detect.labelled_slots import recalls
from sottovoce.pipelines.sanitize.refused import FailureSummary
from sottovoce.pipelines.sanitize.report_example import ShownExample
from sottovoce.pipelines.sanitize.report_rows import Section, sections_of_rows
from sottovoce.pipelines.sanitize.report_spending import Spending, spending
from sottovoce.pipelines.sanitize.report_words import as_moment, in_bytes, in_epsilon, in_odds, in_time, in_words
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.text.stages import language_stage


@dataclass(frozen=True, slots=True)
class SinkSummary:
    """`share` is the weight of the sink among the dialogues, from 0 to 1. `audio_s` is None for a sink of text."""

    name: str
    holds: str
    share: float
    rows: int
    shards: int
    bytes: int
    audio_s: float | None = None


@dataclass(frozen=True, slots=True)
class StageSummary:
    """`seconds` is the time that all workers together spent in the stage; None where it was not kept."""

    name: str
    received: int
    passed: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`ledger` is the content of ledger.json, `settings` the resolved job, which holds no secret. `erased` are the days on
    which records were taken out again: the times of such a run are not kept, since they tell how much it had to do."""

    run_id: str
    created: str
    duration_s: float | None
    records_read: (
        int | None
    )  # None where no exact count is told: the figures of the corpus and of the stages are left out
    dialogues: int
    audio_s: float
    sinks: tuple[SinkSummary, ...]
    failures: tuple[FailureSummary, ...]
    stages: tuple[StageSummary, ...]
    ledger: Mapping[str, Any]
    settings: Mapping[str, Any]
    sections: tuple[Section, ...] = field(default=())
    erased: tuple[str, ...] = ()
    reconciled: tuple[
        tuple[str, int], ...
    ] = ()  # line by line from the records that were read to those that were given on
    version: str = ""
    example: ShownExample | None = None

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """Who answers for what: only what the operator has written for readers of this page."""
        said = self.settings.get("about") or {}
        unsaid = {name: f"not named (about.{name})" for name in ("corpus", "operator")}
        return tuple((name, said.get(name) or words) for name, words in unsaid.items())

    @property
    def figures(self) -> dict[str, list[Figure]]:
        """By what they are figures of."""
        found: dict[str, list[Figure]] = {}
        for figure in figures_of(self.ledger, self.settings):
            found.setdefault(f"{figure.mechanism}: {figure.claim}", []).append(figure)
        return found

    @property
    def unmeasured(self) -> list[str]:
        """Voices of the run of which nobody has measured, with these settings, whom they hide."""
        known = {figure.mechanism for figures in self.figures.values() for figure in figures}
        return [
            row["mechanism"]
            for row in self.ledger["mechanisms"]
            if row["stage"] == "voice" and row["mechanism"] not in known
        ]

    @property
    def speaker_epsilon(self) -> float | None:
        """The budget of a speaker over all nights and trainings, as the job sets it; None for no limit."""
        return (self.settings.get("nightly") or {}).get("speaker_epsilon")

    @property
    def spending(self) -> tuple[Spending, ...]:
        """What each mechanism costs, as a share of that budget, or of the dearest one where there is none."""
        return spending(self.ledger, self.speaker_epsilon)

    @property
    def rows(self) -> int:
        return sum(sink.rows for sink in self.sinks)

    @property
    def refused(self) -> int:
        return sum(failure.count for failure in self.failures)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "count": lambda number: f"{number:,}",
        "signed": lambda number: f"{number:,}".replace("-", "\u2212"),
        "share": lambda number: f"{number:.0%}",
        "size": in_bytes,
        "moment": as_moment,
        "time": in_time,
        "epsilon": in_epsilon,
        "odds": in_odds,
        "words": in_words,
    }
    return environment.from_string(resources.files(__package__).joinpath("report.html").read_text("utf-8"))


def render_report(summary: RunSummary) -> str:
    """The page as HTML, by report.html beside this module."""
    return _template().render(
        run=summary,
        longest_s=max((stage.seconds or 0.0 for stage in summary.stages), default=0.0) or 1.0,
        settings=yaml.safe_dump(dict(summary.settings), sort_keys=False),
        shown_elsewhere=(*OF_DETECTORS, "recall_of_the_detector"),
    )


BEFORE_THE_SINKS = ("read", "recognise", "skip taken", "transcribe", "language", "detect", "slots", "budget", "route")

SLOTS_TITLE = "What the detector missed of the corpus's own labels"
SLOTS_NOTE = (
    "These values were labelled by the corpus, so they were treated as sensitive whether the detector found them or not "
    "(detect.sensitive_slots). What the detector missed here tells how much it misses where nothing is labelled: "
)
AS_SAID = "that is published as it was said."
REWRITTEN = "that went into rewriting like every other word, and is published only if the rewriting says it."


def report_of(
    record: Mapping[str, Any],
    ledger: Mapping[str, Any],
    settings: Mapping[str, Any],
    refused: tuple[FailureSummary, ...],
    path_of: Callable[[str], str],
    duration_s: float | None,
    given: Mapping[str, Any] | None = None,
    example: ShownExample | None = None,
) -> str:
    """The page of a commit. `path_of` says where a shard lies; `duration_s` and `given` (what the sinks were given, as tallied)
    are None for a run that lost records since."""
    counts = handed_on(dict(record))["counts"]
    told = "read" in counts
    summary = RunSummary(
        run_id=record["run_id"],
        created=record["created"],
        duration_s=duration_s if told else None,
        records_read=counts.get("read"),
        dialogues=counts.get("dialogues", 0),
        audio_s=counts.get("audio_s", 0.0),
        sinks=tuple(_sink_summary(name, record, settings["sinks"], path_of) for name in counts["rows"]),
        failures=refused if told else (),
        stages=_stage_summaries(counts.get("stages", {}), counts["rows"]),
        ledger=ledger,
        settings=settings,
        sections=(
            *_of_labelled_slots(counts.get("labelled_slots", {}), bool(record.get("rewritten"))),
            *sections_of_rows(record, path_of, given if told else None),
        ),
        erased=tuple(sorted({erasure["date"] for erasure in record.get("erasures", ())})),
        reconciled=_reconciled(counts, refused) if told and not record.get("erasures") else (),
        version=importlib.metadata.version("sottovoce"),
        example=example,
    )
    return render_report(summary)


def _reconciled(counts: Mapping[str, Any], refused: Iterable[FailureSummary]) -> tuple[tuple[str, int], ...]:
    """Every record that was read is found again; nothing where the run did not count what it gave to each data set."""
    given = {sink: counts["stages"].get(f"to {sink}", {}).get("received", 0) for sink in counts["rows"]}
    before = sum(failure.count for failure in refused if failure.stage in BEFORE_THE_SINKS)
    after = sum(failure.count for failure in refused) - before
    left_out = counts["read"] - before - sum(given.values())
    if not any(given.values()) or left_out < 0:
        return ()
    lines = [("records read", counts["read"]), ("refused before they had a data set", -before)]
    lines += [("left out: released by an earlier run, withheld, or asked to be forgotten", -left_out)] * bool(left_out)
    lines += [(f"given to {sink}", number) for sink, number in given.items()]
    kept = sum(given.values()) - after
    return (*lines, ("of these refused on the way", -after), ("and so in the data sets below", kept))


def _sink_summary(
    name: str, record: Mapping[str, Any], weights: Mapping[str, float], path_of: Callable[[str], str]
) -> SinkSummary:
    own = [shard for shard in record["shards"] if shard["sink"] == name]
    audio_s = None
    if sink_class(name).needs_audio:
        audio_s = sum(_column_sum(path_of(shard["path"]), "duration_s") for shard in own)
    return SinkSummary(
        name=name,
        holds=sink_class(name).holds,
        share=weights[name] / sum(weights[sink] for sink in record["counts"]["rows"]),
        rows=sum(shard["rows"] for shard in own),
        shards=len(own),
        bytes=sum(shard["bytes"] for shard in own),
        audio_s=audio_s,
    )


def _column_sum(path: str, column: str) -> float:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return pc.sum(pq.read_table(file, columns=[column])[column]).as_py() or 0.0


def _stage_summaries(stages: Mapping[str, Any], sinks: Iterable[str]) -> tuple[StageSummary, ...]:
    of_sinks = [stage for sink in sinks for stage in (language_stage(sink), *sink_class(sink).stages)]
    return tuple(
        StageSummary(name, stage["received"], stage["passed"], stage["seconds"])
        for name in dict.fromkeys((*BEFORE_THE_SINKS, "rewrite", *of_sinks, "write"))
        if (stage := stages.get(name))
    )


def _of_labelled_slots(slots: Mapping[str, Any], rewritten: bool) -> tuple[Section, ...]:
    """What the detector missed of the corpus's own labels; nothing where the corpus labels none."""
    if not slots:
        return ()
    rows = []
    for type_, row in recalls(slots).items():
        words, values = row["words"], row["values"]
        low, high = words["interval"]
        found = f"{words['recall']:.1%} ({low:.1%} to {high:.1%})"
        rows.append((type_, f"{values['labelled']:,}", f"{values['missed']:,}", f"{words['labelled']:,}", found))
    columns = ("type", "labelled values", "missed, whole or in part", "words of them", "words found (95 % interval)")
    return (Section(SLOTS_TITLE, columns, tuple(rows), SLOTS_NOTE + (REWRITTEN if rewritten else AS_SAID)),)
