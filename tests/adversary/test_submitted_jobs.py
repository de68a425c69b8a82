"""Attacker: may look at jobs where they run (Flink's REST API, Dataflow's console and staging bucket) and wants the records.

They have the options and the graph of a job and unpack them: Beam's functions and elements are pickled, compressed and put
into base64. What must be in there: the places of corpus, output and secret, and the names of the corpus files. What must
not: anything of a record. (That the secret is not in there either: test_secret_travels.py.)
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import dataclasses
import json
import re
import zlib

import apache_beam as beam
import pytest
from adversary import QUICK, Operator, as_outsider, dialogues, weakened
from whole_runs import write_manifest

from sottovoce.models.corpus import layout
from sottovoce.pipelines.sanitize.graph import build_graph
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.run import RunRequest, prepare
from sottovoce.pipelines.sanitize.secret_file import read_secret

PLANTED = {"word": "petronella", "speaker": "oswaldina", "dialogue": "quetzalroom"}
CORPUS = [
    record | {"text": "tell petronella", "speaker_id": "oswaldina", "dialogue_id": "quetzalroom"}
    for record in dialogues(8)
]
PACKED = re.compile(rb"(?:QlpoO|eJ|H4sI)[A-Za-z0-9+/\n]{16,}={0,2}")  # bzip2, zlib and gzip in base64


def attack(submitted: bytes) -> set[str]:
    """What of a record stands in a job, however it was packed."""
    everything = b"\n".join(unpacked(submitted))
    return {what for what, planted in PLANTED.items() if planted.encode() in everything}


def unpacked(content: bytes, depth: int = 4) -> list[bytes]:
    """The content, and all that is packed in it."""
    layers = [content]
    for text in PACKED.findall(content) if depth else ():
        for unpack in (bz2.decompress, zlib.decompress, lambda data: zlib.decompress(data, 31)):
            with contextlib.suppress(OSError, ValueError, zlib.error):
                layers += unpacked(unpack(base64.b64decode(text + b"===")), depth - 1)
    return layers


def job_for_flink(operator: Operator) -> bytes:
    """Graph and options of a night as the job server is given them, and shows them."""
    manifest = write_manifest(operator.home / "corpus", CORPUS)
    secret, job_file = read_secret(str(operator.secret_file)), read_job(None, QUICK[1::2])
    run = prepare(RunRequest(job_file, str(manifest), str(operator.out("out")), secret, "flink"))
    pipeline = beam.Pipeline(options=run.options)
    build_graph(pipeline, dataclasses.replace(run.job, nightly=True), run.corpus)
    options = json.dumps(run.options.get_all_options(), default=str)
    return pipeline.to_runner_api().SerializeToString() + options.encode()


CHOOSE = layout.choose


def labelled_by_their_first_line(*arguments):
    """A build whose public label of a file quotes it."""
    name, files = CHOOSE(*arguments)
    return name, tuple(dataclasses.replace(file, label=open(file.uri).readline()) for file in files)


@pytest.mark.slow
def test_a_label_that_quotes_a_record_is_found_in_the_job(tmp_path):
    with weakened(
        "labels that tell nothing", {"sottovoce.transforms.read.corpus:choose": labelled_by_their_first_line}
    ):
        job = job_for_flink(Operator(tmp_path))
    assert b"petronella" not in job, "it does not lie open"
    assert as_outsider(attack, job) == set(PLANTED)


@pytest.mark.slow
def test_our_jobs_hold_nothing_of_a_record(tmp_path):
    operator = Operator(tmp_path)
    job = job_for_flink(operator)
    assert str(operator.secret_file).encode() in b"".join(unpacked(job)), "the attack does unpack"
    assert not as_outsider(attack, job)
