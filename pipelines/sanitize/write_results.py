"""From the counts of a run to its ledger, its report and the record that commits it.

What is handed on is decided here: dialogues that an earlier run took are refused, or said in the ledger, and a job is
published without the operator's own lists and places.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.export.dataset_card import cards_of
from sottovoce.models.forget.whose import ledger as forgetting
from sottovoce.models.ledger import book
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.runs.places import FAILURES, STATE
from sottovoce.models.settings import FAMILIES
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.language import code_of
from sottovoce.models.text.rewrite import NONE, ReleasesTemplates
from sottovoce.pipelines.nightly.finished_runs import finished_runs, moment_after
from sottovoce.pipelines.sanitize.job_file import JobFile, LimitSettings
from sottovoce.pipelines.sanitize.refused import FailureSummary, failure_summaries
from sottovoce.pipelines.sanitize.report import report_of
from sottovoce.pipelines.sanitize.report_example import example_of
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json, write_json
from sottovoce.pipelines.sanitize.show_progress import exceeds
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.nightly import forgotten, taken_before
from sottovoce.transforms.nightly.state import count_dialogues
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.speech import transcribe
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.text.stages import known_languages
from sottovoce.transforms.text.value_distribution import counting_of

LANGUAGE = "language"


def write_results(job: Job, job_file: JobFile, folder: RunFolder, duration_s: float) -> dict[str, Any]:
    """Write ledger and report; returns what `_COMMITTED.json` will hold."""
    tally = read_json(folder.places.tally)
    again = count_released_again(tally, job)
    if left_out := tally["stages"].pop(forgotten.STAGE, None):  # told to the operator, not to whoever gets the run
        write_json(folder.places.left_out, {"records": left_out["received"]})
    shards = folder.shard_notes()
    released = [shard for shard in shards if shard["sink"] in job.sinks]
    refused = failure_summaries(folder.places.private(shard["path"]) for shard in shards if shard["sink"] == FAILURES)
    counts = _counts(job, folder, tally, shards, refused)
    _refuse_useless(job, job_file.sections["limits"], counts, refused)
    created = moment_after(finished_runs(folder.places.output.uri))
    crowd_only = releases_templates(job.rewrite)  # then it serves every sink of the run, and no exact count leaves
    entries = [*ledger_entries(job, None if crowd_only else tally["slots"]), *_ledger_of_released_again(job, again)]
    ledger = book.open_book(folder.name, created, entries, _released(job), as_said=not crowd_only)
    record = {
        "run_id": folder.name,
        "created": created,
        "counts": counts,
        "delta_of_lists": _delta_of_counts(job),
        "shards": released,
        "languages": languages_in(
            (folder.path(shard["path"]) for shard in released),
            unsaid=None if known_languages(job, "detect") is None else ENGLISH,
        ),
        "rewritten": "" if job.rewrite.name == NONE else job.rewrite.make().ledger().says,
        "crowd": crowd_only,
    }
    for name, text in cards_of(record, job_file.sections["output"].licence).items():
        folder.write_text(name, text)
    folder.write_text("ledger.json", book.to_json(ledger))
    settings, example = published(job_file.resolved), example_of(job)
    page = report_of(record, ledger, settings, refused, folder.path, duration_s, tally["given"], example)
    folder.write_text("report.html", page)
    return record


def _counts(
    job: Job,
    folder: RunFolder,
    tally: Mapping[str, Any],
    shards: Sequence[Mapping[str, Any]],
    refused: Sequence[FailureSummary],
) -> dict[str, Any]:
    """What the commit says of the run in numbers, all of them exact."""
    rows = Counter(dict.fromkeys((*job.sinks, FAILURES), 0))
    for shard in shards:
        rows[shard["sink"]] += shard["rows"]
    dialogues = (shard["path"] for shard in shards if shard["path"].startswith(f"{STATE}/dialogues-"))
    return {
        "read": tally["stages"].get("read", {}).get("received", 0),
        "failed": rows[FAILURES],
        "by_reason": _by_reason(refused),
        "dialogues": count_dialogues(map(folder.places.private, dialogues)),
        "audio_s": tally["audio_s"],
        "rows": {sink: rows[sink] for sink in job.sinks},
        "stages": tally["stages"],
        "models_loaded": tally["loads"],
        "labelled_slots": tally["slots"],
    }


def _refuse_useless(
    job: Job, limits: LimitSettings, counts: Mapping[str, Any], refused: Sequence[FailureSummary]
) -> None:
    """A run that gives nobody anything is an error of the job or of the corpus, and a commit would hide it. A night may be
    empty: nothing was new."""
    read, failed = counts["read"], counts["failed"]
    if not read and not job.nightly and not job.forgotten:
        raise RunError("the corpus holds no records; nothing was committed. Check --input and input.format")
    limit = limits.max_failures
    faults = []
    if failed == read > 0 and not job.nightly and not limits.all_refused:
        faults.append("nothing is left (limits.all_refused=true commits it all the same)")
    if exceeds(failed, read, limit):
        faults.append(f"more than limits.max_failures ({limit}) allows")
    if faults:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in counts["by_reason"].items())
        most = max(refused, key=lambda one: one.count)
        accepted = f"Most at the stage {most.stage}, where this is accepted: {most.allowed}"
        raise RunError(
            f"{failed} of {read} records were refused ({reasons}), {', '.join(faults)}; nothing was committed. "
            f"{accepted}. Which ones, with file and line: {job.places.private(FAILURES)}"
        )


def languages_in(uris: Iterable[str], unsaid: str | None) -> list[str]:
    """Of the rows that are handed on, by their code; `unsaid` is that of rows that name none."""
    found: set[str | None] = set()
    for uri in uris:
        with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            shard = pq.ParquetFile(file)
            if LANGUAGE in shard.schema_arrow.names:
                found.update(shard.read(columns=[LANGUAGE])[LANGUAGE].unique().to_pylist())
    return sorted({code for said in found if (code := code_of(said) if said else unsaid)})


def _by_reason(refused: Iterable[FailureSummary]) -> dict[str, int]:
    by_reason: Counter[str] = Counter()
    for failure in refused:
        by_reason[failure.reason] += failure.count
    return dict(by_reason)


def ledger_entries(job: Job, slots: Mapping[str, Any] | None) -> list[LedgerEntry]:
    """What each mechanism of the run says of itself; `slots` are the tally's counts of labelled slots, if they are told."""
    used = {family for sink in job.sinks for family in sink_class(sink).mechanisms}
    if releases_templates(job.rewrite):  # no recording was touched: a voice said the released texts
        used = {"replace"} | (used & {"voice"})
    detect = job.detect.make().ledger()
    of_texts = job.replace if job.rewrite.name == NONE else job.rewrite
    replace = [of_texts.make().ledger(detect)] if "replace" in used else []
    on_speech = [getattr(job, family).make().ledger() for family in FAMILIES if family in used - {"replace"}]
    routing = LedgerEntry(
        stage="route",
        mechanism="one dialogue, one sink",
        says="Each dialogue was sent by a keyed coin to exactly one sink, so no dialogue is held both as speech and as text.",
        not_protected=("a person who speaks in several dialogues may be in several sinks",),
        parameters={sink: weight / sum(job.sinks.values()) for sink, weight in job.sinks.items()},
    )
    heard = [transcribe.ledger(recogniser)] if (recogniser := job.audio.recogniser) else []
    return [routing, *heard, detect, job.slots.ledger(slots), *replace, *on_speech, forgetting(job.forget)]


def _released(job: Job) -> list[str]:
    """A sink whose texts are rewritten releases what the rewriter says, and not what the sink does otherwise."""
    crowd = releases_templates(job.rewrite)
    rewritten = [
        sink for sink in job.sinks if crowd or (job.rewrite.name != NONE and "replace" in sink_class(sink).mechanisms)
    ]
    of_sinks = [line for sink in job.sinks if sink not in rewritten for line in sink_class(sink).released]
    return [*of_sinks, *(job.rewrite.make().released(rewritten) if rewritten else ())]


def _delta_of_counts(job: Job) -> float:
    """The delta that counting the corpus costs each speaker who is counted."""
    if job.rewrite.name != NONE:
        rewriter = job.rewrite.make()
        return rewriter.spent[1] if isinstance(rewriter, ReleasesTemplates) else 0.0
    return counting.spent[1] if (counting := counting_of(job.replace)) else 0.0


class DialoguesTaken(RunError):
    """Nothing of the corpus was used: an earlier run of the output has taken dialogues of it."""


def count_released_again(tally: dict[str, Any], job: Job) -> int:
    """How many dialogues of the run other runs took before it; DialoguesTaken unless that was asked for."""
    stage = tally["stages"].pop(taken_before.STAGE, None)  # counts dialogues: the others count records
    taken = stage["reasons"].get(taken_before.TAKEN, 0) if stage else 0
    if taken and not job.take_again:
        raise DialoguesTaken(
            f"{taken} of the {stage['received']} dialogues of this corpus were taken by earlier runs in "
            f"{job.places.output.uri}: released a second time, both records could be joined. Nothing was written. "
            "Take only the new ones with `sottovoce nightly`, use another --output, or --force"
        )
    return taken


def _ledger_of_released_again(job: Job, again: int) -> list[LedgerEntry]:
    """Empty for a run that releases nothing again."""
    if not again and not job.other_secrets:
        return []
    unknown = " Some of those runs had another secret: which dialogues they took is not known, so there may be more."
    return [
        LedgerEntry(
            stage="release",
            mechanism="released again (--force)",
            says=f"{again} dialogues of this run were released before by other runs of the same output, which was allowed "
            f"with --force.{unknown if job.other_secrets else ''}",
            not_protected=(
                "such a dialogue may be held as speech by one run and as text by another, and the two can be joined",
                "a word that was replaced twice by different draws shows more than each draw does: epsilons add up",
            ),
            parameters={"dialogues": again, "other_secrets": job.other_secrets},
            sound=dict.fromkeys(("unit", "utterance", "dialogue", "speaker"), math.inf),
            infinite_because="the other releases of these dialogues are not in this ledger, and no bound on all of them "
            "together is computed",
        )
    ]


PLACES = ("input", "output", "secret_file")  # of the section `nightly`: where a night finds its things
AUDIO_FOLDER = "audio_folder"  # a place, too
ROOTS = "audio_roots"  # of the section `input`: how many there are may be known
PHRASES = "entries"  # of the gazetteer, alone or in an ensemble


def published(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """What may be handed on of a job: all of it but the phrases of the operator's own lists and the places of their things.

    A list of customers stands in a job so that their names are found; in `config.yaml` or the report it would publish them.
    """
    nightly = {key: value for key, value in (resolved.get("nightly") or {}).items() if key not in PLACES}
    changed = dict(resolved) | {"nightly": nightly}
    changed.pop("observe", None)  # addresses of the operator's own machines
    read = dict(resolved.get("input") or {})
    if roots := read.get(ROOTS):
        changed["input"] = read | {ROOTS: len(roots)}
    if read.get(AUDIO_FOLDER):
        changed["input"] = dict(changed["input"]) | {AUDIO_FOLDER: "set"}
    return {key: _without_phrases(value) for key, value in changed.items()}


def _without_phrases(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _counted(item) if key == PHRASES else _without_phrases(item) for key, item in value.items()}
    return [_without_phrases(item) for item in value] if isinstance(value, list | tuple) else value


def _counted(entries: Any) -> Any:
    """{TYPE: how many phrases}."""
    return {kind: len(phrases) for kind, phrases in entries.items()} if isinstance(entries, Mapping) else None
