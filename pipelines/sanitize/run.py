"""One run from plan to commit. What happens here happens on the driver; the graph does the rest on the workers."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import yaml
from apache_beam.io.filesystems import FileSystems
from apache_beam.runners.runner import PipelineState
from rich.console import Console

from sottovoce.models.errors import DEBUG, RunError, SettingsError, silent_logs
from sottovoce.models.randomness import Secret
from sottovoce.models.text.rewrite import NONE
from sottovoce.pipelines.audit.planted import keep_evidence, plant, planted_in
from sottovoce.pipelines.local.remembered_signatures import remembered_signatures
from sottovoce.pipelines.nightly.finished_runs import finished_runs, state_tables
from sottovoce.pipelines.observe.observing import Observers, RunFacts
from sottovoce.pipelines.remote.beam_options import beam_options, gpu_hints
from sottovoce.pipelines.remote.own_workers import only_own_workers
from sottovoce.pipelines.remote.reachable import check_runner
from sottovoce.pipelines.sanitize.explain import explain
from sottovoce.pipelines.sanitize.graph import build_graph
from sottovoce.pipelines.sanitize.job_file import JobFile
from sottovoce.pipelines.sanitize.languages_taken import notes_of_languages
from sottovoce.pipelines.sanitize.one_secret import claim_output
from sottovoce.pipelines.sanitize.one_writer import one_writer
from sottovoce.pipelines.sanitize.run_folder import RunFolder, run_id
from sottovoce.pipelines.sanitize.show_progress import ShowProgress
from sottovoce.pipelines.sanitize.write_results import DialoguesTaken, published, write_results
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.read.answered import answered, cause
from sottovoce.transforms.read.read_corpus import Corpus, open_corpus
from sottovoce.transforms.sinks import TABLE, sink_class
from sottovoce.transforms.text.crowd import releases_templates
from sottovoce.transforms.write.rows import schema_of

SHARDS_OF_A_CROWD = 4  # how many files there are must not tell how many records came in, where nothing else does


@dataclass(frozen=True)
class RunRequest:
    """What the command line asks for, beside the job."""

    job_file: JobFile
    input_uri: str
    output: str
    secret: Secret
    runner: str = "direct"
    workers: int = 1
    beam_arguments: tuple[str, ...] = ()
    audit: bool = False  # one follows: canaries go along


@dataclass(frozen=True)
class Run:
    """A run that could begin: the corpus was looked at, the options were read, nothing was touched."""

    request: RunRequest
    corpus: Corpus
    folder: RunFolder
    job: Job
    options: Any


def prepare(request: RunRequest, **changes: Any) -> Run:
    """`changes` are fields of the Job that only some commands set."""
    job_file = request.job_file
    settings = job_file.sections["input"]
    corpus = open_corpus(request.input_uri, settings.format, settings.naming)
    if "://" in request.output:
        _check_output(request.output)
    for note in corpus.notes:
        print(f"note: {note}", file=sys.stderr)
    name = run_id(request.secret, job_file.identity, corpus.fingerprint, changes.get("nightly", False))
    folder = RunFolder(request.output, name)
    job = _make_job(job_file, corpus, sinks_for(job_file, corpus), folder, request.secret)
    _check_rewriting(job)
    for note in notes_of_languages(job, corpus.languages):
        print(f"note: {note}", file=sys.stderr)
    options = beam_options(request.runner, request.workers, request.beam_arguments)
    job = dataclasses.replace(job, gpu_hints=gpu_hints(options), **changes)
    return Run(request, corpus, folder, job, options)


def _check_output(output: str) -> None:
    """Before anything is read: a bucket that is not there would be asked for over and over."""
    try:
        answered(lambda: FileSystems.exists(f"{output.rstrip('/')}/_"), output)  # S3 takes no bucket alone
    except (OSError, ValueError) as error:
        raise RunError(f"--output {output}: cannot be reached ({cause(error, output)})") from None


def execute_once(run: Run, force: bool = False) -> tuple[dict[str, Any], bool]:
    """(the record of the commit, whether it was finished before). As the one writer of the output."""
    finished = run.folder.committed()
    if finished is None or force:
        with one_writer(run.request.output, run.folder.name):
            # Asked again: an erasure that was cut off may have been completed just now.
            finished = None if force else run.folder.committed()
            if finished is None:
                return execute(remember(run, force)), False
    return finished, True


def remember(run: Run, force: bool = False) -> Run:
    """The run, told what its output has released already. From here on the output is written, by its one writer."""
    output = run.request.output
    alone = claim_output(output, run.request.secret, force)
    others = [earlier for earlier in finished_runs(output) if earlier.folder.name != run.folder.name]
    taken = state_tables(others, "dialogues")
    job = dataclasses.replace(run.job, taken=taken, take_again=force, other_secrets=not alone)
    return dataclasses.replace(run, job=job)


def execute(run: Run) -> dict[str, Any]:
    """Run the graph, write the results and commit them, as the one writer of the output. Returns the record of the commit."""
    check_runner(run.request.runner, run.options)
    watching = Observers(run.request.job_file.sections["observe"], lambda: _facts(run))
    began = time.monotonic()
    watching.began()
    try:
        committed = _to_commit(run, watching, began)
    except BaseException as error:
        watching.ended(None, error, time.monotonic() - began)
        raise
    watching.ended(committed, None, time.monotonic() - began)
    return committed


def _to_commit(run: Run, watching: Observers, began: float) -> dict[str, Any]:
    folder, job_file = run.folder, run.request.job_file
    folder.begin()
    run = with_canaries(without_the_forgotten(run))
    folder.write_text("config.yaml", yaml.safe_dump(published(job_file.resolved), sort_keys=False))
    with watching.phase("graph"):
        _run_graph(run, job_file.sections["limits"].max_failures)
    if run.job.canaries:
        keep_evidence(run.job, planted_in(run.job))
    try:
        with watching.phase("results"):
            committed = write_results(run.job, job_file, folder, time.monotonic() - began)
    except DialoguesTaken:
        folder.remove_unused(run.job.nonce)
        raise
    with watching.phase("commit"):
        folder.commit(committed)
    return committed


def _facts(run: Run) -> RunFacts:
    columns = {
        sink: tuple((field.name, str(field.type)) for field in schema_of(sink_class(sink).record_type))
        for sink in run.job.sinks
    }
    return RunFacts(run.folder.name, run.request.input_uri, run.request.output, run.request.runner, columns)


def without_the_forgotten(run: Run) -> Run:
    """Asked by the one writer of the output, so that nobody is forgotten between this question and the commit."""
    found = FileSystems.match([run.folder.places.output.marks("*")])[0].metadata_list
    marks = tuple(sorted(item.path for item in found))
    return dataclasses.replace(run, job=dataclasses.replace(run.job, forgotten=marks))


def with_canaries(run: Run) -> Run:
    """With invented people among the others, where an audit follows."""
    if not run.request.audit:
        return run
    asked = run.request.job_file.sections["audit"].canaries
    return dataclasses.replace(run, job=plant(run.job, asked, run.corpus.records))


def sinks_for(job_file: JobFile, corpus: Corpus) -> dict[str, float]:
    """The weights of the job; a text-only corpus has no use for sinks that need audio.

    In a crowd release that follows from the job alone: otherwise one person's recording, being among the first records, would
    show in which sinks there are.
    """
    text_only = job_file.sections["input"].text_only
    if text_only is None:
        text_only = corpus.text_only and not releases_templates(job_file.members["rewrite"])
    sinks = {
        name: weight for name, weight in job_file.sinks.items() if not (text_only and sink_class(name).needs_audio)
    }
    if not sinks:
        allowed = ", ".join(name for name in TABLE if not sink_class(name).needs_audio)
        raise RunError(f"the corpus has no audio and the job names speech sinks only; allowed: {allowed}")
    return sinks


def _check_rewriting(job: Job) -> None:
    """A mechanism that covers whole texts must cover every sink of the run, or what it says of a speaker would not hold."""
    if job.rewrite.name == NONE:
        return
    from sottovoce.models.speech.voice.phonetic import Phonetic  # here: most runs need no look at the voice

    rewriter, voice = job.rewrite.make(), job.voice.make()
    from_text = isinstance(voice, Phonetic) and voice.from_text
    reasons = [(sink, rewriter.serves(sink, from_text)) for sink in job.sinks]
    if problems := [f"sinks.{sink}: with rewrite: {job.rewrite.name}, {why}" for sink, why in reasons if why]:
        raise SettingsError(problems)


def _make_job(job_file: JobFile, corpus: Corpus, sinks: dict[str, float], folder: RunFolder, secret: Secret) -> Job:
    total = sum(sinks.values())
    crowd = releases_templates(job_file.members["rewrite"])
    fixed = job_file.sections["output"].shards or (SHARDS_OF_A_CROWD if crowd else None)
    shards = {
        name: fixed or max(1, math.ceil(corpus.records * weight / total / sink_class(name).rows_per_shard))
        for name, weight in sinks.items()
    }
    return Job(
        places=folder.places,
        secret=secret,
        sinks=sinks,
        shards=shards,
        input=job_file.sections["input"],
        audio=job_file.sections["audio"],
        slice=job_file.sections["slice"],
        forget=job_file.forget,
        slots=job_file.sections["detect"],
        audio_roots=corpus.audio_roots(job_file.sections["input"].audio_roots),
        **job_file.members,
    )


def _run_graph(run: Run, max_failures: int | float | None) -> None:
    debug = bool(os.environ.get(DEBUG))
    progress_dir = tempfile.mkdtemp(prefix="sottovoce-progress-") if run.request.runner == "direct" else None
    try:
        with contextlib.ExitStack() as around:
            around.enter_context(_progress(progress_dir, run.corpus, max_failures))
            if not debug:
                around.enter_context(silent_logs())
            if run.request.runner == "direct":
                around.enter_context(only_own_workers())
            around.enter_context(remembered_signatures())
            pipeline = beam.Pipeline(options=run.options)
            build_graph(pipeline, dataclasses.replace(run.job, progress_dir=progress_dir), run.corpus)
            state = pipeline.run().wait_until_finish()
    except Exception as error:
        if debug:
            raise
        raise explain(error, progress_dir, run.request) from None
    finally:
        if progress_dir is not None:
            shutil.rmtree(progress_dir, ignore_errors=True)
    if state != PipelineState.DONE:  # a cancelled job ends without an error
        raise RunError(f"the job ended as {state}; nothing was committed")


def _progress(directory: str | None, corpus: Corpus, max_failures: int | float | None) -> Any:
    if directory is None:
        return contextlib.nullcontext()
    return ShowProgress(directory, corpus.records, max_failures, Console(stderr=True))
