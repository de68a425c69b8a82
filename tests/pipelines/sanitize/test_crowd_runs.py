"""Whole runs of `rewrite: crowd` over a corpus of everything that can be wrong with one."""

from __future__ import annotations

import json

import pytest
from whole_runs import only_run, private_of, rows, sottovoce, write_manifest, write_secret

pytestmark = pytest.mark.slow
JOB = ("--set", "sinks={slu: 1}", "--set", "detect=rules", "--set", "rewrite=crowd")
HERS = ("xochiquetzal", "only_hers", "secret_slot")  # words, the intent and the slot that one speaker alone has


def said(name: str, text: str, speaker: str | None, intent: str = "ask", slots: tuple = ()) -> dict:
    row = {"id": name, "dialogue_id": name, "text": text, "intent": intent, "slots": list(slots)}
    return row | ({"speaker_id": speaker} if speaker else {})


def corpus() -> list[dict]:
    crowd = [said(f"c{i}", "what is the news", f"s{i}") for i in range(60)]
    nameless = [said(f"n{i}", "stop it now", None, "stop") for i in range(60)]
    few = [said(f"f{i}", "good morning to you", f"s{i}") for i in range(3)]
    him = [said(f"h{i}", f"read my diary of day {i % 50}", "him", "diary") for i in range(600)]
    one_slot = [said(f"o{i}", "paris", f"s{i}", "inform", ({"begin": 0, "end": 5, "name": "city"},)) for i in range(60)]
    unheard = [said(f"u{i}", "qwx", f"s{i}", "inform", ({"begin": 0, "end": 3, "name": "thing"},)) for i in range(60)]
    empty = [said(f"e{i}", text, f"s{i}") for i, text in enumerate(["...", " - ", "?!"])]
    slot = {"begin": 0, "end": 12, "name": HERS[2]}
    hers = [said("hers", f"{HERS[0]} is at the clinic", "her", HERS[1], (slot,)), said("she", "...", "her", HERS[1])]
    return [*crowd, *nameless, *few, *him, *one_slot, *unheard, *empty, *hers]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    secret = write_secret(folder / "secret")
    manifest = write_manifest(folder / "in", corpus())
    done = sottovoce("sanitize", "--input", manifest, "--output", folder / "out", "--secret-file", secret, *JOB)
    return only_run(folder / "out"), done


def test_a_crowd_goes_out_and_those_without_an_id_count_by_dialogue(run):
    texts = {(row["text"], row["intent"]) for row in rows(run[0], "slu")}
    assert {("what is the news", "ask"), ("stop it now", "stop")} <= texts
    (entry,) = [
        one for one in json.loads((run[0] / "ledger.json").read_text())["mechanisms"] if one["stage"] == "rewrite"
    ]
    assert "counts for its dialogue" in entry["parameters"]["unit"] and entry["sound"]["speaker"] == 4.0


def test_too_few_speakers_and_one_who_says_very_much_release_nothing(run):
    texts = " ".join(row["text"] for row in rows(run[0], "slu"))
    assert "good morning" not in texts and "diary" not in texts
    assert "diary" not in {row["intent"] for row in rows(run[0], "slu")}


def test_a_template_of_one_slot_is_filled_or_left_out_and_never_empty(run):
    """A city is drawn from what the crowd said; a slot that is neither listed nor common has its released values or nothing."""
    informed = [row for row in rows(run[0], "slu") if row["intent"] == "inform"]
    assert all(row["text"].strip() and len(row["slots"]) == 1 for row in informed)
    assert {row["slots"][0]["name"] for row in informed} <= {"city", "thing"}


def test_texts_without_a_word_are_refused_with_a_reason(run):
    counts = json.loads((private_of(run[0]) / "counts.json").read_text())
    assert counts["by_reason"] == {"no_template": 4} and {row["reason"] for row in rows(run[0], "failures")} == {
        "no_template"
    }


def test_an_intent_that_one_speaker_alone_has_is_named_nowhere(run):
    """Nor her words, nor her slot: not in what is handed on, not in private state, not in what the command printed."""
    run, done = run
    everything = b"".join(path.read_bytes() for path in run.parent.rglob("*") if path.is_file()).decode(
        "utf-8", "replace"
    )
    everything += (
        done.stdout + done.stderr + " ".join(str(row) for sink in ("slu", "failures") for row in rows(run, sink))
    )
    assert [name for name in HERS if name in everything.lower()] == []


def test_card_and_report_say_what_was_done_to_the_texts(run):
    card, report = ((run[0] / name).read_text() for name in ("README.md", "report.html"))
    assert "Only templates that enough different speakers said" in " ".join(card.split())
    assert "found and replaced" not in card and "Voices were changed" not in card
    assert "published as it was said" not in report
    (entry,) = [
        one for one in json.loads((run[0] / "ledger.json").read_text())["mechanisms"] if "slots" in one["mechanism"]
    ]
    assert "misses are published" not in str(entry) and "goes out only where enough" in str(entry)


def test_a_corpus_too_small_for_any_crowd_is_committed_empty_and_says_so(tmp_path):
    secret = write_secret(tmp_path / "secret")
    manifest = write_manifest(tmp_path / "in", [said(f"{i}", "hello there", f"s{i}") for i in range(3)])
    done = sottovoce("sanitize", "--input", manifest, "--output", tmp_path / "out", "--secret-file", secret, *JOB)
    assert rows(only_run(tmp_path / "out"), "slu") == [] and "hello" not in done.stdout + done.stderr
    assert "nothing was said by enough speakers" in done.stdout
