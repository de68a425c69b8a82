"""What is said as it is not written is left out of text and speech by every command, and counted in the report."""

from __future__ import annotations

import json
import re

import pytest
from spoken_corpus import say
from whole_runs import rows, sottovoce, write_manifest, write_secret

from sottovoce.models.speech.audio import to_flac

pytestmark = pytest.mark.slow
SAID = (
    "please call maria on the mobile phone tomorrow morning and tell them that we moved the meeting to the second floor"
)
WRITTEN = SAID.replace("on the", "on green the")
DETECT = "{use: gazetteer, entries: {PER: [siobhan]}}"  # nobody who is said


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "one.flac").write_bytes(to_flac(say(tuple(SAID.split()), "slt")))
    return write_manifest(folder, [{"id": "u", "dialogue_id": "u", "audio_filepath": "one.flac", "text": WRITTEN}])


@pytest.mark.parametrize("voice", ["phonetic", "mcadams"])
def test_a_run_leaves_out_the_wrong_word_and_counts_it(corpus, tmp_path, voice):
    job = {"sinks": "{stt_am: 1}", "voice": voice, "detect": DETECT, "relisten": "none"}
    flags = [word for name, value in job.items() for word in ("--set", f"{name}={value}")]
    secret = write_secret(tmp_path / "secret")
    sottovoce("sanitize", "--input", corpus, "--output", tmp_path / "out", "--secret-file", secret, *flags)
    (run,) = [path.parent for path in (tmp_path / "out").glob("*/_COMMITTED.json")]
    text = " ".join(row["text"] for row in rows(run, "stt_am"))
    assert "green" not in text and "second floor" in text
    told = re.sub(r"<[^>]*>", " ", (run / "report.html").read_text())
    counted = re.search(r"MISFIT\s+(\d+)", told)
    assert counted and int(counted.group(1)) == len(WRITTEN.split()) - len(text.split())
    ledger = json.loads((run / "ledger.json").read_text())
    assert "left out" in str(ledger)


def test_with_markers_the_wrong_word_is_not_in_the_text_either(corpus, tmp_path):
    sottovoce(
        "mask", "--input", corpus, "--output", tmp_path, "--words", "second", "--text", "typed", "--relisten", "none"
    )
    (row,) = [json.loads(line) for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert "green" not in row["text"] and "[MISFIT]" in row["text"] and "second" not in row["text"]


def test_align_marks_and_counts_the_wrong_word(corpus, tmp_path):
    told = sottovoce("align", "--input", corpus, "--output", tmp_path).stdout
    (row,) = [json.loads(line) for line in (tmp_path / "words.jsonl").read_text().splitlines()]
    marked = [word["word"] for word in row["words"] if word["misfit"]]
    assert "green" in marked and "second" not in marked and re.search(rf"misfits +{len(marked)} ", told)
    unsure = [line.split()[4] for line in (tmp_path / "words.ctm").read_text().splitlines() if line.endswith(" 0.000")]
    assert set(marked) <= set(unsure)


def test_on_request_the_utterance_is_refused(corpus, tmp_path):
    refuse = ("--align", "{use: pocketsphinx, misfits: refuse}", "--relisten", "none")
    sottovoce("mask", "--input", corpus, "--output", tmp_path, "--words", "second", *refuse, check=False)
    assert not (tmp_path / "manifest.jsonl").read_text()
    assert "alignment_mismatch" in (tmp_path / "failures.jsonl").read_text()
