"""Attacker: has the speech slices of a run and puts those of one utterance together again, without listening to them.

They look at ids, at the order of rows, and at what a FLAC file holds beside its samples. (What can be heard or read from
the slices themselves is measured by `sottovoce evaluate slices`, docs/speech.md.)
"""

from __future__ import annotations

import io
import itertools
from collections import Counter

import pytest
import soundfile
from adversary import Operator, Released, as_outsider, assert_learnt, assert_only_guessed, weakened
from whole_runs import demo_records

from sottovoce.models.randomness import Secret
from sottovoce.models.speech.audio import Speech, to_flac

pytestmark = pytest.mark.slow
RECORDINGS = 24
FLAGS = (
    *("--set", "sinks={stt_am: 1}", "--set", "voice=mcadams", "--set", "relisten=none"),
    *("--set", "slice={min_seconds: 0.3, remainder: drop}"),
)
TOKEN = Secret.token


def corpus() -> list[dict]:
    return sorted(demo_records(), key=lambda record: -record["duration"])[:RECORDINGS]


def owners(operator: Operator) -> dict[str, str]:
    """The truth, which takes the secret: the utterance of each slice id."""
    secret = Secret(operator.secret)
    return {
        secret.token("slice", record["dialogue_id"], record["id"], number): record["id"]
        for record in corpus()
        for number in range(100)
    }


def attack(released: Released) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs of slices that stand side by side; and slices whose file holds more than its samples."""
    rows = released.rows("stt_am")
    beyond = [row["id"] for row in rows if written_anew(row["audio"]["bytes"]) != row["audio"]["bytes"]]
    return list(itertools.pairwise(row["id"] for row in rows)), beyond


def written_anew(content: bytes) -> bytes:
    samples, rate_hz = soundfile.read(io.BytesIO(content), dtype="float32")
    return to_flac(Speech(samples, rate_hz))


def in_row(purpose: str):
    """A build that numbers the slices of an utterance: the ids of neighbours are neighbours."""

    def token(self, asked, *parts):
        if asked != purpose:
            return TOKEN(self, asked, *parts)
        return TOKEN(self, asked, *parts[:-1])[:24] + f"{parts[-1]:08x}"

    return token


def flac_with_a_title(speech: Speech) -> bytes:
    out = io.BytesIO()
    with soundfile.SoundFile(out, "w", speech.rate_hz, 1, "PCM_16", format="FLAC") as file:
        file.title = "a recording of somebody"
        file.write(speech.samples)
    return out.getvalue()


def hits(pairs: list[tuple[str, str]], owner: dict[str, str]) -> tuple[int, int, float]:
    """Pairs of one utterance, all pairs, and the share that chance would give (taken as independent)."""
    count = Counter(owner[name] for name in {name for pair in pairs for name in pair})
    slices = sum(count.values())
    chance = sum(number * (number - 1) for number in count.values()) / (slices * (slices - 1))
    return sum(owner[left] == owner[right] for left, right in pairs), len(pairs), chance


def test_slices_that_are_numbered_and_titled_are_put_together(tmp_path):
    operator = Operator(tmp_path)
    careless = {
        "sottovoce.models.randomness:Secret.token": in_row("slice"),
        "sottovoce.models.speech.audio:to_flac": flac_with_a_title,
    }
    with weakened("ids of slices alone, files of samples alone", careless):
        released = operator.release(corpus(), *FLAGS)
        owner = owners(operator)
    pairs, beyond = as_outsider(attack, released)
    assert_learnt(*hits(pairs, owner))
    assert len(beyond) == len(released.rows("stt_am"))


def test_our_slices_stand_apart_and_hold_samples_only(tmp_path):
    operator = Operator(tmp_path)
    released = operator.release(corpus(), *FLAGS)
    pairs, beyond = as_outsider(attack, released)
    owner = owners(operator)
    assert max(Counter(owner[row["id"]] for row in released.rows("stt_am")).values()) > 2, "there is something to join"
    assert_only_guessed(*hits(pairs, owner))
    assert not beyond
