"""From the counts of a run to its ledger, its report and the record that commits it."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.ledger import book
from sottovoce.models.records import LedgerEntry
from sottovoce.pipelines.graph import TALLY_FILE
from sottovoce.pipelines.job_file import JobFile
from sottovoce.pipelines.report import render_report
from sottovoce.pipelines.run_folder import WORK, RunFolder
from sottovoce.pipelines.show_progress import exceeds
from sottovoce.pipelines.summary import FailureSummary, RunSummary, SinkSummary, StageSummary
from sottovoce.transforms import transcribe
from sottovoce.transforms.job import Job
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.value_distribution import counting_of

TEXT_STAGES = ("read", "skip taken", "transcribe", "detect", "budget", "route", "replace")
SPEECH_STAGES = ("load", "align", "voice", "mask", "relisten", "slice", "unlink")
STAGE_ORDER = (*TEXT_STAGES, *SPEECH_STAGES, "write")


def write_results(job: Job, job_file: JobFile, folder: RunFolder, duration_s: float) -> dict[str, Any]:
    """Write ledger and report; returns what `_COMMITTED.json` will hold."""
    tally = folder.read_json(folder.path(WORK, TALLY_FILE))
    shards = folder.shard_notes()
    failed = sum(shard["rows"] for shard in shards if shard["sink"] == "failures")
    read = tally["stages"].get("read", {}).get("received", 0)
    limit = job_file.sections["limits"].max_failures
    if exceeds(failed, read, limit):
        raise RunError(
            f"{failed} of {read} records failed, more than max_failures ({limit}) allows; nothing was committed"
        )
    created = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    ledger = book.open_book(folder.name, created, ledger_entries(job), list(job.sinks))
    summary = RunSummary(
        run_id=folder.name,
        created=created,
        duration_s=duration_s,
        records_read=read,
        dialogues=tally["dialogues"],
        dialogues_exact=tally["dialogues_exact"],
        audio_s=tally["audio_s"],
        sinks=tuple(_sink_summary(job, folder, name, shards) for name in job.sinks),
        failures=_failure_summaries(folder, shards),
        stages=_stage_summaries(tally),
        ledger=ledger,
        settings=job_file.resolved,
    )
    folder.write_text("ledger.json", book.to_json(ledger))
    folder.write_text("report.html", render_report(summary))
    by_reason = {failure.reason: 0 for failure in summary.failures}
    for failure in summary.failures:
        by_reason[failure.reason] += failure.count
    return {
        "run_id": folder.name,
        "created": created,
        "counts": {
            "read": read,
            "failed": failed,
            "by_reason": by_reason,
            "dialogues": tally["dialogues"],
            "audio_s": tally["audio_s"],
            "rows": {sink.name: sink.rows for sink in summary.sinks},
            "stages": tally["stages"],
            "models_loaded": tally["loads"],
        },
        "delta_of_lists": counting.spent[1] if (counting := counting_of(job.replace)) else 0.0,
        "shards": shards,
    }


def ledger_entries(job: Job) -> list[LedgerEntry]:
    """What each mechanism of the run says of itself."""
    speech = any(sink_class(sink).needs_audio for sink in job.sinks)
    text = any(not sink_class(sink).needs_audio for sink in job.sinks)
    detect = job.detect.make().ledger()
    replace = [_with_recall(job.replace.make(), detect).ledger()] if text else []
    on_speech = [spec.make().ledger() for spec in (job.align, job.voice, job.mask, job.relisten)] if speech else []
    routing = LedgerEntry(
        stage="route",
        mechanism="one dialogue, one sink",
        says="Each dialogue was sent by a keyed coin to exactly one sink, so no dialogue is held both as speech and as text.",
        not_protected=("a person who speaks in several dialogues may be in several sinks",),
        parameters={sink: weight / sum(job.sinks.values()) for sink, weight in job.sinks.items()},
    )
    heard = [transcribe.ledger(recogniser)] if (recogniser := job.audio.recogniser) else []
    return [routing, *heard, detect, *replace, *on_speech]


def _with_recall(strategy: Any, detect: LedgerEntry) -> Any:
    """The strategy, told the lowest recall that its detector was measured with: what is missed stays in the clear."""
    measured = detect.parameters.get("measured")
    if not measured or strategy.recall is not None:
        return strategy
    name, row = min(measured.items(), key=lambda item: item[1]["recall"])
    return dataclasses.replace(strategy, recall=row["recall"], recall_on=name)


def _sink_summary(job: Job, folder: RunFolder, name: str, shards: list[dict[str, Any]]) -> SinkSummary:
    own = [shard for shard in shards if shard["sink"] == name]
    audio_s = None
    if sink_class(name).needs_audio:
        audio_s = sum(_column_sum(folder.path(shard["path"]), "duration_s") for shard in own)
    return SinkSummary(
        name=name,
        share=job.sinks[name] / sum(job.sinks.values()),
        rows=sum(shard["rows"] for shard in own),
        shards=len(own),
        bytes=sum(shard["bytes"] for shard in own),
        audio_s=audio_s,
    )


def _column_sum(path: str, column: str) -> float:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return pc.sum(pq.read_table(file, columns=[column])[column]).as_py() or 0.0


def _failure_summaries(folder: RunFolder, shards: list[dict[str, Any]]) -> tuple[FailureSummary, ...]:
    counts: dict[tuple[str, str, str], int] = {}
    for shard in shards:
        if shard["sink"] == "failures":
            with FileSystems.open(folder.path(shard["path"]), compression_type=CompressionTypes.UNCOMPRESSED) as file:
                for group in pq.ParquetFile(file).iter_batches(columns=["stage", "reason", "allowed"]):
                    for row in group.to_pylist():
                        key = (row["stage"], row["reason"], row["allowed"])
                        counts[key] = counts.get(key, 0) + 1
    return tuple(FailureSummary(*key, count) for key, count in sorted(counts.items()))


def _stage_summaries(tally: dict[str, Any]) -> tuple[StageSummary, ...]:
    return tuple(
        StageSummary(name, stage["received"], stage["passed"], stage["seconds"])
        for name in STAGE_ORDER
        if (stage := tally["stages"].get(name))
    )
