"""Attacker: has the released files with their times (`cp -p`, rsync, tar), and knows who stands first in the corpus.

Rows are spread over shards by a keyed hash, but a local run writes the shards in the order in which the corpus first
asks for them: the oldest shard holds the first record, and with many shards that is as good as a name.
"""

from __future__ import annotations

import itertools

import pyarrow.parquet as pq
import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

pytestmark = pytest.mark.slow
CORPUS = dialogues(48, turns=1, say=lambda dialogue, turn: f"call alice about order {dialogue}")
FLAGS = ("--set", "sinks={slu: 1}", "--set", "output.shards=32")


def attack(released: Released) -> list[int]:
    """The first dialogue of each shard, from the oldest shard to the newest. Of equal times the name decides."""
    shards = sorted(released.run.glob("slu/*.parquet"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [min(int(row["text"].split()[-1]) for row in pq.read_table(shard).to_pylist()) for shard in shards]


def share_in_order(by_age: list[int]) -> float:
    """Of all pairs; half of them by luck."""
    pairs = list(itertools.combinations(by_age, 2))
    return sum(first < second for first, second in pairs) / len(pairs)


def test_without_one_time_for_all_the_shards_stand_in_the_order_of_the_corpus(tmp_path):
    with weakened(
        "one time for all files", {"sottovoce.pipelines.sanitize.run_folder:at_one_time": lambda folder: None}
    ):
        by_age = as_outsider(attack, Operator(tmp_path).release(CORPUS, *FLAGS))
    assert len(by_age) > 10 and share_in_order(by_age) > 0.9  # a clock of some milliseconds leaves a few to chance


def test_our_files_are_all_of_one_age(tmp_path):
    released = Operator(tmp_path).release(CORPUS, *FLAGS)
    by_age = as_outsider(attack, released)
    assert share_in_order(by_age) < 0.9  # by luck more: once in a million runs
    assert len({path.stat().st_mtime_ns for path in released.run.rglob("*") if path.name != "_COMMITTED.json"}) == 1
