"""Nights that release what a crowd said: each charges a speaker its whole epsilon, and a spent budget keeps them out."""

from __future__ import annotations

import json

import pytest
from whole_runs import rows, sottovoce, write_manifest, write_secret

pytestmark = pytest.mark.slow


def said(night: int, speaker: int, text: str) -> dict:
    """A dialogue of two: an agent answers everybody, and must not lose their turns with his own budget."""
    name = f"n{night}-{speaker}"
    turn = {
        "dialogue_id": name,
        "turn": 0,
        "text": text,
        "intent": "ask",
        "id": f"{name}-0",
        "speaker_id": f"s{speaker}",
    }
    return turn


def test_a_speaker_is_counted_in_as_many_nights_as_the_budget_allows(tmp_path):
    out, secret = tmp_path / "out", write_secret(tmp_path / "secret")
    job = tmp_path / "job.yaml"
    nightly = {"output": str(out), "secret_file": str(secret), "speaker_epsilon": 5.0, "input": str(tmp_path / "in")}
    job.write_text(json.dumps({
        "detect": "rules", "sinks": {"stt_lm": 1}, "nightly": nightly,
        "rewrite": {"use": "crowd", "epsilon": 4.0, "ladder": {"full": 1.0}},
    }))  # fmt: skip
    agent = [
        {"dialogue_id": f"n{n}-{i}", "turn": 1, "text": "one moment", "id": f"a{n}-{i}", "speaker_id": "clerk-7"}
        for n in (1, 2) for i in range(40)
    ]  # fmt: skip
    first = [said(1, i, "what is the news") for i in range(40)] + agent[:40]
    # The second night: twenty who have spent their budget, and forty who come for the first time.
    second = [said(2, i, "good morning") for i in (*range(20), *range(100, 140))] + agent[40:]

    write_manifest(tmp_path / "in", first)
    summary = json.loads(sottovoce("nightly", "--config", job).stdout.splitlines()[-1])
    assert summary["failed"] == 0
    write_manifest(tmp_path / "in", first + second)
    summary = json.loads(sottovoce("nightly", "--config", job).stdout.splitlines()[-1])
    # Withheld: those twenty turns, and the agent's own; nobody else's, although he is in their dialogues.
    assert summary["failed"] == 20 + 40
    ledger = json.loads((out / "private" / "cumulative_ledger.json").read_text())
    assert ledger["epsilon_per_speaker"]["max"] == 4.0 and ledger["delta_of_lists_at_most"] == pytest.approx(2e-6)
    texts = {row["text"] for run in out.glob("run-*") for row in rows(run, "stt_lm")}
    assert texts == {"what is the news", "good morning"}
