"""The plan of a run, for `--dry-run`: what would happen, in which order, and how much would cross a shuffle."""

from __future__ import annotations

import psutil

from sottovoce.models.settings import FAMILIES, Spec
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.read.read_corpus import Corpus
from sottovoce.transforms.sinks import stages_of

LOCAL_BYTES_PER_SHUFFLED_BYTE = 4  # measured on the local runner
RECORD_OVERHEAD_BYTES = 200  # ids, source and offsets that travel with a text


def print_plan(job: Job, corpus: Corpus, runner: str) -> None:
    """To stdout; with the direct runner, a warning where the shuffle would take over a fifth of this machine's memory."""
    total = sum(job.sinks.values())
    audio = "text only" if corpus.text_only else "with audio"
    print(f"input    {corpus.format}, {len(corpus.files)} file(s), about {corpus.records} records, {audio}")
    print(f"runner   {runner}")
    print(f"output   {job.places.output.uri}")  # the name of the run depends on the secret, which may not be made yet
    print("stages   read -> detect -> route by dialogue, then for each sink:")
    for sink, weight in job.sinks.items():
        way = " -> ".join((*stages_of(sink, job.rewrite.name), "write"))
        print(f"  {sink:<7} {weight / total:6.1%} of dialogues, {job.shards[sink]} shard(s): {way}")
    for family in FAMILIES:
        print(f"{family:<8} {_describe(getattr(job, family))}")
    print(f"slice    at least {job.slice.min_seconds} s, remainder: {job.slice.remainder}")
    shuffle = estimated_shuffle_bytes(corpus)
    print(f"shuffle  about {shuffle / 1e6:.1f} MB of ids and text; no audio", end="")
    if runner == "direct":
        needed = shuffle * LOCAL_BYTES_PER_SHUFFLED_BYTE
        warn = "  WARNING: over a fifth of memory" if needed > psutil.virtual_memory().total / 5 else ""
        print(f" (the direct runner holds about {needed / 1e6:.1f} MB for it){warn}", end="")
    print()


def estimated_shuffle_bytes(corpus: Corpus) -> int:
    """What is grouped by dialogue: the text and a fixed amount for each record. Audio never crosses a shuffle."""
    return corpus.text_bytes + corpus.records * RECORD_OVERHEAD_BYTES


def _describe(spec: Spec) -> str:
    options = ", ".join(f"{name}={value}" for name, value in spec.options)
    return f"{spec.name} ({options})" if options else spec.name
