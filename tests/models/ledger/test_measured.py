"""Figures beside claims: each is the one that its page of the documentation has, and none is shown for other settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sottovoce.models.ledger.book import open_book
from sottovoce.models.ledger.measured import figures_of, rows
from sottovoce.models.settings import Spec
from sottovoce.models.text import detect

DOCS = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['mechanism']} {row['figure']}")
def test_each_figure_stands_on_the_page_that_it_names(row):
    page = (DOCS / row["page"]).read_text("utf-8").replace("*", "")
    value, low, high = re.findall(r"\d+\.\d+", row["figure"])
    assert f"{value} ({low} to {high})" in page
    assert f"`{row['mechanism']}`" in page or row["page"] == "docs/speech.md"


def of(settings: dict | None = None, **options: object) -> list[str]:
    entry = Spec("voice", "phonetic", tuple(options.items())).make().ledger()
    job = {"slice": {"min_seconds": 3.0, "drop_words": 0}} | (settings or {})
    return [figure.figure for figure in figures_of(open_book("run-0", "now", [entry], ()), job)]


def test_a_voice_with_other_settings_has_other_figures_or_none():
    assert of()[0].startswith("46.9 %")
    assert of(prosody=1.0)[0].startswith("46.2 %") and any(figure.startswith("0.076") for figure in of(prosody=1.0))
    assert of(prosody=0.0)[0].startswith("34.9 %")
    assert of(rhythm=0.7, melody=0.7)[0].startswith("45.3 %")
    assert not any("%" in figure for options in ({"prosody": 0.25}, {"rhythm": 0.7}) for figure in of(**options))
    assert not any(
        figure.startswith("0.") for figure in of({"slice": {"min_seconds": 2.0, "drop_words": 0}}, prosody=1.0)
    )


def test_recall_comes_with_the_detector_that_it_was_measured_of():
    entry = Spec("detect", "default", ()).make().ledger()
    found = figures_of(open_book("run-0", "now", [entry], ()), {})
    kept = json.loads((Path(detect.__file__).parent / "weights" / "measured.json").read_text())["default"]["slurp test"]
    assert any(figure.on.startswith("slurp test") and f"{kept['recall']:.1%}" in figure.figure for figure in found)
    assert all(figure.source.startswith("sottovoce evaluate detect") for figure in found)
    assert figures_of(open_book("run-0", "now", [Spec("detect", "rules", ()).make().ledger()], ()), {}) == []
