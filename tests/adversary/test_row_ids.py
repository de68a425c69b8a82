"""Attacker: knows the corpus (every dialogue, utterance and speaker id, every text) and reads the ids of released rows.

If an id can be computed from what is known, each released row is joined to the person it came from, whatever was replaced.
"""

from __future__ import annotations

import hashlib
import itertools

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened

PURPOSES = ("text line", "slu example", "dialogue alias", "origin", "failure", "")  # the code is public
RECORDS = [*dialogues(12), '{"text": 7, "dialogue_id": "broken"}']


def public_token(self, purpose: str, *parts: str | int) -> str:
    """What a build without a key would do."""
    return hashlib.sha256("\0".join(map(str, (purpose, *parts))).encode()).hexdigest()[:32]


def attack(released: Released, corpus: list) -> dict[str, str]:
    """Row id -> dialogue, for every id that a public hash of known values gives."""
    known = [record for record in corpus if isinstance(record, dict)]
    guesses = {}
    for record, purpose in itertools.product(known, PURPOSES):
        values = [str(record[key]) for key in ("dialogue_id", "id", "speaker_id", "text", "turn")]
        for length in range(1, 4):
            for chosen in itertools.permutations(values, length):
                for glue in ("", "\0", "-", ":"):
                    for parts in (chosen, (purpose, *chosen)):
                        text = glue.join(parts).encode()
                        for name in ("md5", "sha1", "sha256"):
                            guesses[hashlib.new(name, text).hexdigest()[:32]] = record["dialogue_id"]
    ids = [row["id"] for sink in ("stt_lm", "slu", "dm", "failures") for row in released.rows(sink)]
    return {name: guesses[name] for name in ids if name in guesses}


@pytest.mark.slow
def test_ids_of_a_build_without_a_key_name_the_dialogue(tmp_path):
    with weakened("the key of the ids", {"sottovoce.models.randomness:Secret.token": public_token}):
        released = Operator(tmp_path).release(RECORDS)
    joined = as_outsider(attack, released, RECORDS)
    rows = sum(len(released.rows(sink)) for sink in ("stt_lm", "slu", "dm"))
    assert rows and len(joined) >= rows


@pytest.mark.slow
def test_our_ids_tell_nothing_to_who_knows_the_corpus(tmp_path):
    released = Operator(tmp_path).release(RECORDS)
    assert sum(len(released.rows(sink)) for sink in ("stt_lm", "slu", "dm"))
    assert not as_outsider(attack, released, RECORDS)
