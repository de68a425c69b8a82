"""A run whose driver does not stay: `submit` starts the graph and leaves, `finish` commits when the graph has ended.

The graph writes its tally last, so a run folder with a tally holds every shard. Until `finish` the run is locked and
not committed.
"""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

import apache_beam as beam
import yaml
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.graph import TALLY_FILE, build_graph
from sottovoce.pipelines.job_file import read_job
from sottovoce.pipelines.run import Prepared
from sottovoce.pipelines.run_folder import WORK, RunFolder
from sottovoce.pipelines.write_results import write_results
from sottovoce.transforms.job import Job

SUBMITTED = "submitted.json"


def submit(run: Prepared) -> Any:
    """Start the graph and return what the runner returned. Whoever calls this must not wait for it to end."""
    folder = run.folder
    folder.begin()
    try:
        folder.write_text("config.yaml", yaml.safe_dump(run.order.job_file.resolved, sort_keys=False))
        folder.write_json(f"{WORK}/{SUBMITTED}", {"began": time.time(), "sinks": run.job.sinks})
        pipeline = beam.Pipeline(options=run.options)
        build_graph(pipeline, run.job, run.corpus)
        return pipeline.run()
    except BaseException:
        folder.release()
        raise


def finish(folder: RunFolder) -> dict[str, Any]:
    """Write ledger and report of a submitted run and commit it. Returns the record of the commit."""
    if not FileSystems.exists(folder.path(WORK, SUBMITTED)):
        raise RunError(
            f"{folder.uri}: no submitted run; expected the folder of a run that was submitted and has not finished"
        )
    tally = FileSystems.match([folder.path(WORK, TALLY_FILE)])[0].metadata_list
    if not tally:
        raise RunError(f"{folder.name} is not complete: its job is still at work, or has failed; nothing was committed")
    submitted = folder.read_json(f"{WORK}/{SUBMITTED}")
    with tempfile.TemporaryDirectory() as scratch:
        job_file = read_job(local_copy(folder.path("config.yaml"), scratch))
    job = Job(
        run_uri=folder.uri,
        secret=Secret(b""),  # no draw is made any more
        sinks=submitted["sinks"],
        shards={},
        slice=job_file.sections["slice"],
        **job_file.specs,
    )
    committed = write_results(job, job_file, folder, tally[0].last_updated_in_seconds - submitted["began"])
    folder.commit(committed)
    folder.release()
    return committed


def local_copy(uri: str, folder: str) -> str:
    """A file of any filesystem that Beam reads, as a local path."""
    path = os.path.join(folder, uri.rpartition("/")[2])
    with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as source, open(path, "wb") as target:
        target.write(source.read())
    return path
