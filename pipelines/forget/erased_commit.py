"""From what was taken out of a run to what its commit, ledger and report will say, and to the plan of doing it.

They say what those of a run without these people would say, and that there was an erasure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import yaml

from sottovoce.models.export.dataset_card import cards_of
from sottovoce.models.forget import receipt
from sottovoce.models.forget.counts import counts_without
from sottovoce.models.ledger import book
from sottovoce.models.runs.places import COMMITTED, FAILURES
from sottovoce.models.settings import read_spec
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.labelled_slots import measured_again
from sottovoce.models.text.rewrite import NONE
from sottovoce.pipelines.forget.erase_run import RunErasure
from sottovoce.pipelines.forget.erasure_plan import ErasurePlan
from sottovoce.pipelines.sanitize.refused import failure_summaries
from sottovoce.pipelines.sanitize.report import BEFORE_THE_SINKS, report_of
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import json_bytes
from sottovoce.pipelines.sanitize.write_results import languages_in
from sottovoce.pipelines.training.marker import read_marker
from sottovoce.transforms.sinks import sink_class, stages_of
from sottovoce.transforms.text.stages import language_stage

LEDGER, REPORT, CONFIG = "ledger.json", "report.html", "config.yaml"


def plan_of(erasure: RunErasure, entry: Mapping[str, str]) -> ErasurePlan:
    """`entry` is what the commit says of the erasure."""
    run, files = erasure.run, erasure.files
    marker = read_marker(run.folder)
    read = erasure.removed.rows[marker.sink] if marker else 0  # of the sink that its training has read
    plan = ErasurePlan(run.folder.name, trained_on=read > 0 or run.retired)
    before = {table["path"]: table["sha256"] for table in (*files.tables, *run.record["shards"])}
    # Records of a crowd are nobody's: what is handed on stays as it is, and does not tell that somebody of it was forgotten.
    if not run.retired and not run.record.get("crowd"):
        plan.commit = _commit(erasure, entry, before)
    plan.tables = files.described(files.tables)
    for target, ready in files.moves():
        if ready is None:
            plan.removes.append(target)
        else:
            plan.moves.append((ready, target))
    after = {path: description and description["sha256"] for path, description in files.changed.items()}
    if plan.commit is not None:
        after[COMMITTED] = hashlib.sha256(json_bytes(plan.commit)).hexdigest()
    changes = [{"path": path, "before": before.get(path), "after": after[path]} for path in sorted(after)]
    plan.receipt = receipt.of_run(plan.run_id, erasure.removed, changes, {} if run.retired else entry)
    return plan


def _commit(erasure: RunErasure, entry: Mapping[str, str], before: dict[str, str]) -> dict[str, Any]:
    """The record of the run as it will be, with ledger and report to match. Adds to `before` what these were."""
    old, files = erasure.run.record, erasure.files
    committed = open_committed(erasure.run.folder.uri)
    settings = yaml.safe_load(committed.read(CONFIG))
    counts = counts_without(old["counts"], erasure.removed, erasure.dialogues, lambda sink: path_of(sink, settings))
    ledger = json.loads(committed.read(LEDGER))
    ledger["mechanisms"] = [measured_again(row, counts["labelled_slots"]) for row in ledger["mechanisms"]]
    ledger["erasures"] = [*ledger.get("erasures", ()), entry]
    shards = files.described(old["shards"])
    unsaid = ENGLISH if ENGLISH in old.get("languages", ()) else None
    record = {
        **old,
        "counts": counts,
        "shards": shards,
        "languages": languages_in((files.new_uri(shard["path"]) for shard in shards), unsaid),
        "erasures": [*old.get("erasures", ()), entry],
    }
    failures = [files.new_uri(table["path"]) for table in files.described(files.tables) if table["sink"] == FAILURES]
    report = report_of(record, ledger, settings, failure_summaries(failures), files.new_uri, None)
    cards = cards_of(record, (settings.get("output") or {}).get("licence"))
    known = {name: text for name, text in cards.items() if name in committed.files}  # older runs have none
    for name, text in ((LEDGER, book.to_json(ledger)), (REPORT, report), *known.items()):
        before[name] = committed.files[name].sha256
        files.write_text(name, text)
    before[COMMITTED] = committed.digest
    return record | {"files": files.listed(committed.files)}


def path_of(sink: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The stages that an utterance on its way to a sink goes through, in order; without a sink, those before the route."""
    if not sink:
        return BEFORE_THE_SINKS
    stages = stages_of(sink, read_spec("rewrite", settings.get("rewrite", NONE)).name)
    if sink_class(sink).needs_audio and settings["audio"]["align_on"] == "anonymised":
        swapped = {"align": "voice", "voice": "align"}
        stages = tuple(swapped.get(stage, stage) for stage in stages)
    return (*BEFORE_THE_SINKS, f"to {sink}", language_stage(sink), *stages, "write")
