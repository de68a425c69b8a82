"""Attacker: reads config.yaml, report.html, ledger.json and _COMMITTED.json for what the operator told the pipeline in
confidence: the phrases of their own lists (customers, staff), and where corpus and secret lie.
"""

from __future__ import annotations

import pytest
import yaml
from adversary import Operator, Released, as_outsider, dialogues, weakened

from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.write_results import published

pytestmark = pytest.mark.slow
CUSTOMERS = ("petronella quist", "oswald zirconium")
JOB = {
    "sinks": {"slu": 1},
    "detect": {
        "use": "ensemble",
        "detectors": ["rules", {"use": "gazetteer", "entries": {"PER": list(CUSTOMERS)}}],
    },
    "input": {"audio_roots": ["/recordings of/kunigunde"]},
    "nightly": {"secret_file": "/vault/brunhilde/secret", "input": "/customers/wilhelmina"},
}
CONFIDED = ("petronella", "quist", "oswald", "zirconium", "brunhilde", "wilhelmina", "kunigunde")
AS_IT_IS = {f"sottovoce.pipelines.sanitize.{module}:published": dict for module in ("run", "write_results")}


def attack(released: Released, operators_folder: str) -> set[str]:
    """Which confided words, and whether a path that nobody typed into the job, stand in what is not a shard."""
    text = b"".join(content for name, content in released.files().items() if not name.endswith(".parquet")).decode()
    return {word for word in (*CONFIDED, operators_folder) if word in text}


def release(operator: Operator) -> Released:
    job = operator.home / "job.yaml"
    job.write_text(yaml.safe_dump(JOB))
    # without the list of the quick job: the last --set of a key wins
    detect = f"detect={yaml.safe_dump(JOB['detect'], default_flow_style=True, width=1000).strip()}"
    return operator.release(dialogues(4), "--config", job, "--set", detect)


def test_a_build_that_publishes_its_job_publishes_the_customers(tmp_path):
    operator = Operator(tmp_path)
    with weakened("settings for the public", AS_IT_IS):
        released = release(operator)
    assert as_outsider(attack, released, str(operator.home)) == set(CONFIDED)


def test_our_settings_tell_counts_of_phrases_and_no_places(tmp_path):
    operator = Operator(tmp_path)
    released = release(operator)
    assert not as_outsider(attack, released, str(operator.home))
    config = yaml.safe_load((released.run / "config.yaml").read_text())
    assert config["detect"]["detectors"][1]["entries"] == {"PER": len(CUSTOMERS)}


def test_everything_else_of_a_job_is_published_as_it_is():
    resolved = read_job(None).resolved
    kept = {
        key: resolved[key] for key in ("nightly", "observe")
    }  # places, and addresses of the operator's own machines
    assert published(resolved) | kept == resolved
