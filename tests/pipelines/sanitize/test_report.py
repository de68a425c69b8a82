import dataclasses
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from sottovoce.models.ledger.book import open_book
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.pipelines.sanitize.refused import FailureSummary
from sottovoce.pipelines.sanitize.report import (
    RunSummary,
    Section,
    SinkSummary,
    StageSummary,
    _reconciled,
    render_report,
)
from sottovoce.pipelines.sanitize.report_spending import spending
from sottovoce.pipelines.sanitize.report_words import in_bytes, in_epsilon, in_odds, in_time, in_words

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

ENTRIES = (
    LedgerEntry(
        "detect",
        "rules",
        "Finds by patterns, in written and in spoken English: e-mail, phone, card and account numbers, dates, times.",
        ("names of people, places and organisations: rules do not find them", "every language but English"),
        parameters={"types": ["EMAIL", "PHONE"]},
    ),
    LedgerEntry(
        "replace",
        "random",
        "Replaces each detected unit, with probability p, by a draw from a public list of the same class.",
        ("that a unit stood there, and of which class", "units that the detectors missed"),
        parameters={"p": 0.9, "seen": math.inf},
        adjacency="two texts that differ in the value of one detected unit",
        assumptions=("the lists are public", "coins are independent"),
        paper={"unit": 6.75},
        sound={"unit": 6.75, "utterance": math.inf, "given span": 0.0},
        infinite_because="an utterance may hold any number of units",
    ),
)

SUMMARY = RunSummary(
    run_id="run-0123456789ab",
    created="2026-01-02T03:04:05+00:00",
    duration_s=83.4,
    records_read=12_322,
    dialogues=64,
    audio_s=214.0,
    sinks=(
        SinkSummary("stt_am", "speech slices", 0.25, 101, 1, 1_250_000, 201.5),
        SinkSummary("stt_lm", "lines", 0.75, 81, 2, 9_800),
    ),
    failures=(FailureSummary("align", "speech_and_text_differ", "speech that says the text", 3),),
    stages=(StageSummary("read", 322, 322, 0.12), StageSummary("align", 84, 81, 31.0)),
    ledger=open_book(
        "run-0123456789ab", "2026-01-02T03:04:05+00:00", ENTRIES, ("the number of speech slices", "the number of lines")
    ),
    settings={"sinks": {"stt_am": 0.25, "stt_lm": 0.75}, "replace": {"use": "random", "p": 0.9}},
    sections=(Section("Measured privacy", ("attacker", "EER"), (("ignorant", "41 %"),), "Higher is better."),),
)


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(SUMMARY)


def test_it_tells_what_came_in_what_went_where_what_failed_and_what_is_not_protected(page):
    expected = [
        "run-0123456789ab",
        "2026-01-02 03:04 UTC",
        "12,322",
        "1.2 MB",
        "speech_and_text_differ",
        "speech that says the text",
        "31.0 s",
        "names of people, places and organisations",
        "what the detectors miss",
        "Measured privacy",
        "the number of speech slices",
        "stt_lm: 0.75",
    ]
    assert [text for text in expected if text not in page] == []


def test_an_infinite_epsilon_is_called_infinite_with_its_reason(page):
    assert "infinite" in page and "an utterance may hold any number of units" in page
    assert "no useful bound" in page


def test_a_mechanism_without_a_figure_is_said_to_claim_none(page):
    assert page.count("No differential-privacy guarantee is claimed.") == 1


class _References(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.references = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href", "data", "action", "srcset")]


def test_the_page_is_self_contained(page):
    found = _References()
    found.feed(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(found.tags)
    assert all(reference.startswith("#") for reference in found.references)
    assert not re.search(r"https?:|//\w|@import|url\(", page)


def test_everything_is_escaped():
    hostile = "<script>alert(1)</script>"
    changed = dataclasses.replace(
        SUMMARY,
        run_id=hostile,
        settings={hostile: hostile},
        failures=(FailureSummary(hostile, hostile, hostile, 1),),
        sections=(Section(hostile, (hostile,), ((hostile,),), hostile),),
        ledger=open_book("r", "c", [dataclasses.replace(ENTRIES[0], parameters={hostile: hostile})], (hostile,)),
    )
    assert "<script" not in render_report(changed)


def test_an_empty_run_has_a_report_too():
    empty = dataclasses.replace(
        SUMMARY, records_read=0, dialogues=0, audio_s=0.0, sinks=(), failures=(), stages=(), sections=()
    )
    assert "Nothing was refused." in render_report(empty)


def test_numbers_are_written_for_people():
    assert [in_bytes(n) for n in (12, 1_500, 2_000_000, 3e9)] == ["12 bytes", "1.5 kB", "2.0 MB", "3.0 GB"]
    assert [in_time(s) for s in (0.0123, 2.0, 90, 7200)] == ["12 ms", "2.0 s", "1.5 min", "2.0 h"]
    assert [in_epsilon(e) for e in (0.0, 6.754, "inf", None)] == ["0", "6.75", "infinite", "not stated"]
    assert [in_odds(e) for e in (0.0, math.log(1.2), math.log(854), "inf")] == [
        "not at all",
        "at most × 1.2",
        "at most × 854",
        "no useful bound",
    ]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is absent: apt-get install chromium")
def test_a_browser_lays_the_page_out(page, tmp_path):
    (tmp_path / "report.html").write_text(page, "utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    more = "--disable-component-update --disable-sync --dump-dom"
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [CHROMIUM, *flags.split(), *more.split(), profile, (tmp_path / "report.html").as_uri()]
    seen = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "<h1>run-0123456789ab</h1>" in seen
    assert seen.count("<table") == page.count("<table")


def test_what_was_measured_of_a_detector_is_not_written_out_again_among_its_settings():
    detectors = [
        {"rules": {"types": ["PER", "LOC"]}},
        {"tagger": {"model": "shipped", "measured": {"snips": {"recall": 0.995}}}},
    ]
    assert in_words(detectors) == "rules types PER, LOC, tagger model shipped"


def test_every_record_that_was_read_is_found_again():
    counts = {
        "read": 100,
        "rows": {"slu": 60, "dm": 5},
        "stages": {"to slu": {"received": 62}, "to dm": {"received": 30}},
    }
    refused = (FailureSummary("read", "not_json", "JSON", 3), FailureSummary("replace", "slot_lost", "words", 2))
    lines = dict(_reconciled(counts, refused))
    assert lines["records read"] + lines["refused before they had a data set"] == 62 + 30 + 5
    assert lines["given to slu"] == 62 and lines["of these refused on the way"] == -2
    assert lines["and so in the data sets below"] == 62 + 30 - 2
    assert [number for line, number in lines.items() if line.startswith("left out")] == [-5]
    assert _reconciled(counts | {"stages": {}}, refused) == ()


def test_what_a_mechanism_costs_is_a_bar_of_the_budget_and_an_infinite_one_is_full():
    small, large = (
        LedgerEntry("replace", name, "x", ("y",), adjacency="z", sound=sound, infinite_because="no bound")
        for name, sound in (("word", {"unit": 1.0, "speaker": 3.0}), ("full", {"unit": 2.0, "speaker": math.inf}))
    )
    ledger = open_book("run-0123456789ab", "2026-01-02T03:04:05+00:00", (small, large), ())
    assert [(row.unit, row.share) for row in spending(ledger, 6.0)] == [("speaker", 0.5), ("speaker", 1.0)]
    page = render_report(dataclasses.replace(SUMMARY, ledger=ledger))
    assert page.count("width: 100.0%") >= 2 and "Beside the dearest" in page  # of two stages' times, one is the longest
