"""Attacker: has the name of a run's folder, and knows the job and the whole corpus but for one number in it.

If the name can be computed from the corpus, each number is tried until the name comes out. Done for a number of six digits
in less than a minute; here for one of three, with every hash that a public formula could be.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import itertools
import json

import pytest
import yaml
from adversary import QUICK, Operator, Released, as_outsider, dialogues, weakened

from sottovoce.models.corpus import CorpusFile
from sottovoce.models.corpus.probe import fingerprint
from sottovoce.pipelines.sanitize.job_file import read_job

pytestmark = pytest.mark.slow
UNKNOWN, CANDIDATES = 472, range(1000)
JOB = (*QUICK, "--set", "sinks={slu: 1}")


def public_run_id(secret, job, prints, nightly=False) -> str:
    """As it was: the secret left out."""
    return f"run-{hashlib.sha256(json.dumps([job, prints], sort_keys=True).encode()).hexdigest()[:12]}"


def corpus(number: int) -> list[dict]:
    return dialogues(6, say=lambda dialogue, turn: f"my number is {number}" if dialogue == 3 else "good morning")


def as_written(records: list[dict]) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records) + b"\n"


def attack(released: Released, job: dict) -> set[int]:
    """The numbers with which a public formula gives the name of the run, or anything else that the run publishes."""
    published = b"".join(content for name, content in released.files().items() if not name.endswith(".parquet"))
    published = (published.decode() + " ".join(released.files())).lower()
    found = set()
    for number in CANDIDATES:
        content = as_written(corpus(number))
        file = CorpusFile("manifest.jsonl", "manifest.jsonl", "manifest.jsonl", len(content))
        prints = fingerprint([file], lambda uri, content=content: io.BytesIO(content))
        texts = [json.dumps(parts, sort_keys=True) for parts in ([job, prints], [job, prints, False], [prints], prints)]
        hashes = [hashlib.sha256(text.encode()).hexdigest() for text in (*texts, content.decode())]
        hashes += [hmac.new(key, text.encode(), "sha256").hexdigest() for key in (b"", bytes(32)) for text in texts]
        if any(value[:12] in published for value in (prints, *hashes)):
            found.add(number)
    return found


def identity() -> dict:
    settings = [value for flag, value in itertools.pairwise(JOB) if flag == "--set"]
    return yaml.safe_load(yaml.safe_dump(read_job(None, settings).identity))


def test_a_public_hash_as_the_name_of_a_run_confirms_the_right_guess(tmp_path):
    with weakened("the key of the run id", {"sottovoce.pipelines.sanitize.run:run_id": public_run_id}):
        released = Operator(tmp_path).release(corpus(UNKNOWN), *JOB)
    assert as_outsider(attack, released, identity()) == {UNKNOWN}


def test_the_name_of_our_runs_confirms_nothing(tmp_path):
    operator = Operator(tmp_path)
    released = operator.release(corpus(UNKNOWN), *JOB)
    assert not as_outsider(attack, released, identity())
    operator.run(corpus(UNKNOWN), *JOB)
    assert "was finished before" in operator.said[-1].stdout, "the same job on the same corpus is still the same run"
