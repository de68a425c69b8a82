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
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import yaml
from apache_beam.runners.runner import PipelineState
from rich.console import Console

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.beam_options import beam_options, gpu_hints
from sottovoce.pipelines.graph import build_graph
from sottovoce.pipelines.job_file import JobFile
from sottovoce.pipelines.run_folder import RunFolder, run_id
from sottovoce.pipelines.show_progress import ShowProgress
from sottovoce.pipelines.write_results import write_results
from sottovoce.transforms import progress
from sottovoce.transforms.job import Job
from sottovoce.transforms.read import Corpus, open_corpus
from sottovoce.transforms.sinks import sink_class

DEBUG = "SOTTOVOCE_DEBUG"


@dataclass(frozen=True)
class Order:
    """What the command line asks for, beside the job."""

    job_file: JobFile
    input_uri: str
    output: str
    secret: Secret
    runner: str = "direct"
    workers: int = 1
    beam_arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """A run that could begin: the corpus was looked at, the options were read, nothing was touched."""

    order: Order
    corpus: Corpus
    folder: RunFolder
    job: Job
    options: Any


def prepare(order: Order, **changes: Any) -> Prepared:
    """`changes` are fields of the Job that only some commands set."""
    job_file = order.job_file
    corpus = open_corpus(order.input_uri, job_file.sections["input"].format)
    folder = RunFolder(order.output, run_id(job_file.identity, corpus.fingerprint))
    job = _make_job(job_file, corpus, _sinks_for(job_file, corpus), folder, order.secret)
    options = beam_options(order.runner, order.workers, order.beam_arguments)
    job = dataclasses.replace(job, gpu_hints=gpu_hints(options), **changes)
    return Prepared(order, corpus, folder, job, options)


def execute(run: Prepared) -> dict[str, Any]:
    """Run the graph, write the results and commit them. Returns the record of the commit."""
    folder, job_file = run.folder, run.order.job_file
    folder.begin()
    try:
        folder.write_text("config.yaml", yaml.safe_dump(job_file.resolved, sort_keys=False))
        began = time.monotonic()
        _run_graph(run, job_file.sections["limits"].max_failures)
        committed = write_results(run.job, job_file, folder, time.monotonic() - began)
        folder.commit(committed)
    finally:
        folder.release()
    return committed


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


def _run_graph(run: Prepared, max_failures: int | float | None) -> None:
    debug = bool(os.environ.get(DEBUG))
    if not debug:  # Beam's error logs quote what it was working on
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    progress_dir = tempfile.mkdtemp(prefix="sottovoce-progress-") if run.order.runner == "direct" else None
    try:
        with _progress(progress_dir, run.corpus, max_failures):
            pipeline = beam.Pipeline(options=run.options)
            build_graph(pipeline, dataclasses.replace(run.job, progress_dir=progress_dir), run.corpus)
            state = pipeline.run().wait_until_finish()
    except Exception as error:
        if debug:
            raise
        raise _explain(error, progress_dir) from None
    finally:
        if progress_dir is not None:
            shutil.rmtree(progress_dir, ignore_errors=True)
    if state != PipelineState.DONE:  # a cancelled job ends without an error
        raise RunError(f"the job ended as {state}; nothing was committed")


def _progress(directory: str | None, corpus: Corpus, max_failures: int | float | None) -> Any:
    if directory is None:
        return contextlib.nullcontext()
    return ShowProgress(directory, corpus.records, max_failures, Console(stderr=True))


def _explain(error: Exception, progress_dir: str | None) -> RunError:
    """What went wrong, without the words of the error: they may quote a record."""
    if progress_dir is not None and progress.stop_asked(progress_dir):
        return RunError("stopped: more records failed than max_failures allows; nothing was committed")
    return RunError(
        f"the pipeline failed ({type(error).__name__}); nothing was committed. "
        f"Set {DEBUG}=1 to see the whole error: it may quote records, so keep it out of shared logs"
    )
