"""A run whose driver does not stay: `submit` starts the graph and leaves, `finish` commits when the graph has ended.

The graph writes its tally last, so a run with a tally has written every shard. Until `finish` the output is locked and the
run not committed.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import apache_beam as beam
import yaml
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.audit.planted import keep_evidence, planted_in
from sottovoce.pipelines.sanitize.graph import build_graph
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.one_writer import WriterLock
from sottovoce.pipelines.sanitize.run import Run, with_canaries, without_the_forgotten
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json, write_json
from sottovoce.pipelines.sanitize.write_results import DialoguesTaken, published, write_results
from sottovoce.transforms.engine.job import Job

SUBMITTED = "submitted.json"
TOLD = ("sinks", "take_again", "other_secrets", "nonce")  # of the job, beside what its file says


def submit(run: Run, lock: WriterLock) -> Any:
    """Start the graph and return what the runner returned. Whoever calls this must not wait for it to end."""
    folder = run.folder
    folder.begin()
    run = with_canaries(without_the_forgotten(run))
    resolved = run.request.job_file.resolved
    folder.write_text("config.yaml", yaml.safe_dump(published(resolved), sort_keys=False))
    told = {name: getattr(run.job, name) for name in TOLD}
    note = {"began": time.time(), "told": told, "job": resolved, "canaries": planted_in(run.job)}
    write_json(folder.places.work(SUBMITTED), note)
    pipeline = beam.Pipeline(options=run.options)
    build_graph(pipeline, run.job, run.corpus)
    submitted = pipeline.run()
    lock.leave(folder.name)
    return submitted


def finish(folder: RunFolder, lock: WriterLock, secret: Callable[[], Secret]) -> dict[str, Any]:
    """Write ledger and report of a submitted run and commit it, as the one writer of the output. Returns the record of the
    commit. The secret is asked for where canaries went along, which nobody else knows again."""
    if not FileSystems.exists(folder.places.work(SUBMITTED)):
        raise RunError(
            f"{folder.uri}: no submitted run; expected the folder of a run that was submitted and has not finished"
        )
    tally = FileSystems.match([folder.places.tally])[0].metadata_list
    if not tally:
        raise RunError(f"{folder.name} is not complete: its job is still at work, or has failed; nothing was committed")
    submitted = read_json(folder.places.work(SUBMITTED))
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as whole_job:  # `config.yaml` lacks what may not be handed on
        json.dump(submitted["job"], whole_job)
        whole_job.flush()
        job_file = read_job(whole_job.name)
    job = Job(
        places=folder.places,
        secret=secret() if submitted["canaries"] else Secret(b""),  # no other draw is made any more
        shards={},
        slice=job_file.sections["slice"],
        forget=job_file.forget,
        **submitted["told"],
        **job_file.members,
    )
    if submitted["canaries"]:
        keep_evidence(job, submitted["canaries"])
    try:
        committed = write_results(job, job_file, folder, tally[0].last_updated_in_seconds - submitted["began"])
    except DialoguesTaken:
        folder.remove_unused(job.nonce)
        lock.finished()
        raise
    folder.commit(committed)
    lock.finished()
    return committed


def local_copy(uri: str, folder: str) -> str:
    """A file of any filesystem that Beam reads, as a local path."""
    path = os.path.join(folder, uri.rpartition("/")[2])
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as source, open(path, "wb") as target:
        target.write(source.read())
    return path
