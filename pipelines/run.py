"""One run from plan to commit. What happens here happens on the driver; the graph does the rest on the workers."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import yaml
from rich.console import Console

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.beam_options import beam_options
from sottovoce.pipelines.graph import build_graph
from sottovoce.pipelines.job_file import JobFile
from sottovoce.pipelines.plan import print_plan
from sottovoce.pipelines.print_summary import print_summary
from sottovoce.pipelines.run_folder import RunFolder, run_id
from sottovoce.pipelines.show_progress import ShowProgress
from sottovoce.pipelines.write_results import write_results
from sottovoce.transforms import progress
from sottovoce.transforms.job import Job
from sottovoce.transforms.read import Corpus, open_corpus
from sottovoce.transforms.sinks import sink_class

DEBUG = "SOTTOVOCE_DEBUG"


def sanitize(
    job_file: JobFile,
    *,
    input_uri: str,
    output: str,
    secret: Secret,
    runner: str,
    workers: int,
    beam_arguments: Sequence[str],
    dry_run: bool,
    force: bool,
) -> int:
    console = Console(stderr=True)
    settings = job_file.sections["input"]
    corpus = open_corpus(input_uri, settings.format)
    sinks = _sinks_for(job_file, corpus)
    folder = RunFolder(output, run_id(job_file.resolved, corpus.fingerprint))
    job = _make_job(job_file, corpus, sinks, folder, secret)
    options = beam_options(runner, workers, beam_arguments)
    if dry_run:
        print_plan(job, corpus, runner)
        return 0
    finished = folder.committed()
    if finished is not None and not force:
        print_summary(folder, finished, "was finished before; nothing was done (use --force to replace it)")
        return 0
    folder.begin()
    try:
        folder.write_text("config.yaml", yaml.safe_dump(job_file.resolved, sort_keys=False))
        began = time.monotonic()
        _run_graph(job, corpus, options, job_file.sections["limits"].max_failures, console, local=runner == "direct")
        committed = write_results(job, job_file, folder, time.monotonic() - began)
        folder.commit(committed)
    finally:
        folder.release()
    print_summary(folder, committed, "is committed")
    return 0


def _sinks_for(job_file: JobFile, corpus: Corpus) -> dict[str, float]:
    """The weights of the job; a text-only corpus has no use for sinks that need audio."""
    text_only = job_file.sections["input"].text_only
    if text_only is None:
        text_only = corpus.text_only
    sinks = {
        name: weight for name, weight in job_file.sinks.items() if not (text_only and sink_class(name).needs_audio)
    }
    if not sinks:
        raise RunError("the corpus has no audio and the job names speech sinks only; allowed: stt_lm, slu, dm")
    return sinks


def _make_job(job_file: JobFile, corpus: Corpus, sinks: dict[str, float], folder: RunFolder, secret: Secret) -> Job:
    total = sum(sinks.values())
    fixed = job_file.sections["output"].shards
    shards = {
        name: fixed or max(1, math.ceil(corpus.records * weight / total / sink_class(name).rows_per_shard))
        for name, weight in sinks.items()
    }
    return Job(
        run_uri=folder.uri,
        secret=secret,
        sinks=sinks,
        shards=shards,
        input=job_file.sections["input"],
        audio=job_file.sections["audio"],
        slice=job_file.sections["slice"],
        **job_file.specs,
    )


def _run_graph(
    job: Job, corpus: Corpus, options: Any, max_failures: int | float | None, console: Console, local: bool
) -> None:
    debug = bool(os.environ.get(DEBUG))
    if not debug:  # Beam's error logs quote what it was working on
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    progress_dir = tempfile.mkdtemp(prefix="sottovoce-progress-") if local else None
    try:
        with _progress(progress_dir, corpus, max_failures, console):
            pipeline = beam.Pipeline(options=options)
            build_graph(pipeline, dataclasses.replace(job, progress_dir=progress_dir), corpus)
            pipeline.run().wait_until_finish()
    except Exception as error:
        if debug:
            raise
        raise _explain(error, progress_dir) from None
    finally:
        if progress_dir is not None:
            shutil.rmtree(progress_dir, ignore_errors=True)


def _progress(directory: str | None, corpus: Corpus, max_failures: int | float | None, console: Console) -> Any:
    if directory is None:
        return contextlib.nullcontext()
    return ShowProgress(directory, corpus.records, max_failures, console)


def _explain(error: Exception, progress_dir: str | None) -> RunError:
    """What went wrong, without the words of the error: they may quote a record."""
    if progress_dir is not None and progress.stop_asked(progress_dir):
        return RunError("stopped: more records failed than max_failures allows; nothing was committed")
    return RunError(
        f"the pipeline failed ({type(error).__name__}); nothing was committed. "
        f"Set {DEBUG}=1 to see the whole error: it may quote records, so keep it out of shared logs"
    )
