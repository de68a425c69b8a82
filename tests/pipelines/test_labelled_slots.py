"""A run on a corpus that labels its slots: they are covered, and what the detector missed of them is told."""

import json

import pytest
from whole_runs import only_run, rows, sottovoce, write_manifest

pytestmark = pytest.mark.slow


def record(number, name):
    text = f"ask {name} to come on monday"
    return {
        "text": text,
        "dialogue_id": f"d{number}",
        "slots": [
            {"name": "person", "begin": 4, "end": 4 + len(name)},
            {"name": "date", "begin": len(text) - 6, "end": len(text)}],
    }  # fmt: skip


def test_misses_of_the_detector_are_covered_counted_and_told(tmp_path, secret_file):
    records = [record(n, "anna") for n in range(30)] + [record(n, "zebulon quux") for n in range(30, 40)]
    manifest = write_manifest(tmp_path / "in", records)
    sottovoce(
        *("sanitize", "--input", manifest, "--output", tmp_path / "out", "--secret-file", secret_file),
        *("--set", "detect={use: gazetteer, entries: {PER: [anna]}}", "--set", "sinks={slu: 1}"),
    )
    run = only_run(tmp_path / "out")
    texts = {row["text"] for row in rows(run, "slu")}
    assert texts == {"ask [PER] to come on monday"}
    entries = json.loads((run / "ledger.json").read_text())["mechanisms"]
    (entry,) = [one for one in entries if one["mechanism"] == "slots of the corpus"]
    measured = entry["parameters"]["recall_of_the_detector"]
    assert measured["PER"]["values"] | {"interval": None} == {
        "labelled": 40, "missed": 10, "recall": 0.75, "interval": None,
    }  # fmt: skip
    assert measured["all"]["words"]["labelled"] == 50 and measured["all"]["words"]["missed"] == 20
    low, high = measured["all"]["words"]["interval"]
    assert low < 0.6 < high
    report = (run / "report.html").read_text()
    assert "What the detector missed of the corpus&#39;s own labels" in report and "60.0%" in report


def test_which_slots_is_asked_by_file_and_by_flag(tmp_path, secret_file):
    manifest = write_manifest(tmp_path / "in", [record(1, "anna")])
    job = tmp_path / "job.yaml"
    job.write_text("detect: {use: gazetteer, entries: {ORG: [acme]}, sensitive_slots: [date]}\nsinks: {slu: 1}\n")
    common = ("sanitize", "--input", manifest, "--config", job, "--secret-file", secret_file)
    expected = {"a": ("ask anna to come on [DATE]", ()), "b": ("ask [PER] to come on [DATE]", ["default", "date"])}
    for out, (text, slots) in expected.items():
        flags = ("--set", f"detect.sensitive_slots={json.dumps(slots)}") if slots else ()
        sottovoce(*common, "--output", tmp_path / out, *flags)
        assert [row["text"] for row in rows(only_run(tmp_path / out), "slu")] == [text]
