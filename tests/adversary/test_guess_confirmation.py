"""Attacker: knows the whole corpus but for one thing, has a guess at it, and compares names, sizes, hashes and bytes.

Two corpora that differ in that one thing alone must give the same release to the byte, but for the name of the run, which
is keyed, and the clock; both are held still here. Then nothing in the release can confirm a guess, whatever is compared.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

from sottovoce.models.corpus.probe import fingerprint

pytestmark = pytest.mark.slow
DIALOGUES = 10


def corpus(**unknown: object) -> list:
    """`unknown` changes one record, or (refused) adds one that is turned away."""
    records: list = dialogues(DIALOGUES)
    refused = unknown.pop("refused", None)
    records[5] = records[5] | unknown
    return [*records, refused] if refused else records


def broken(text: str) -> str:
    return json.dumps({"id": "x", "dialogue_id": "dialogue-x", "text": text, "turn": "not a number"})


# What the attacker does not know, in two versions of different length.
UNKNOWN = {
    "speaker": (corpus(speaker_id="somebody"), corpus(speaker_id="petronella quist of bay view")),
    "replaced name": (corpus(text="call bob at once"), corpus(text="call alice at once")),
    "gender": (corpus(gender="f"), corpus(gender="m")),
    "path of a recording": (corpus(audio_filepath="a.wav"), corpus(audio_filepath="petronella/quist.wav")),
    "content of a refused record": (
        corpus(refused=broken("no")),
        corpus(refused=broken("petronella quist of bay view")),
    ),
}


@contextlib.contextmanager
def same_name_and_time() -> Iterator[None]:
    still = SimpleNamespace(perf_counter=lambda: 0.0, monotonic=lambda: 0.0, time=lambda: 0.0)
    clocks = {
        f"sottovoce.transforms.{module}:time": still
        for module in ("engine.stage", "read.corpus", "read.read_corpus", "write.shards")
    }
    then = {"sottovoce.pipelines.sanitize.write_results:moment_after": lambda _: "2025-01-01T00:00:00+00:00"}
    rest = {"sottovoce.pipelines.sanitize.run:time": still, **then}
    name = {"sottovoce.pipelines.sanitize.run:run_id": lambda *_: "run-0"}
    with weakened("clock and name", clocks | rest | name):
        yield


def attack(first: Released, second: Released) -> set[str]:
    """The files by which the two can be told apart: by name, size or bytes."""
    one, other = first.files(), second.files()
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.fixture(scope="module", autouse=True)
def _models_are_loaded(tmp_path_factory) -> None:
    """A run counts the models that it loads, and not those that were there before."""
    Operator(tmp_path_factory.mktemp("warm")).run(corpus())


def both(tmp_path: Path, unknown: str) -> list[Released]:
    operator = Operator(tmp_path)
    with same_name_and_time():
        pair = enumerate(UNKNOWN[unknown])
        return [operator.release(records, "--set", "input.text_only=true", out=f"out-{i}") for i, records in pair]


def publishing_a_hash() -> contextlib.AbstractContextManager[None]:
    """What the run id was once made of, in the published settings."""
    seen: list[str] = []

    def look(files, open_file):
        seen.append(fingerprint(files, open_file))
        return seen[-1]

    def leaky(resolved):
        return resolved | {"corpus": seen[-1]}

    places = {f"sottovoce.pipelines.sanitize.{module}:published": leaky for module in ("run", "write_results")}
    return weakened("settings that tell nothing", places | {"sottovoce.transforms.read.corpus:fingerprint": look})


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_a_public_hash_of_the_corpus_confirms_every_guess(unknown, tmp_path):
    with publishing_a_hash():
        pair = both(tmp_path, unknown)
    assert as_outsider(attack, *pair) >= {"run-0/config.yaml", "run-0/report.html"}


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_our_release_is_the_same_to_the_byte(unknown, tmp_path):
    pair = both(tmp_path, unknown)
    assert sum(len(pair[0].rows(sink)) for sink in ("stt_lm", "slu", "dm"))
    assert not as_outsider(attack, *pair)
