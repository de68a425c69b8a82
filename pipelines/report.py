"""The report of a run: one self-contained page to lay before a privacy officer.

It is made from a RunSummary alone, so it can show nothing of a record. Everything is escaped; no script, no font and no
picture is fetched, so the page can be archived, mailed and printed.
"""

from __future__ import annotations

import datetime
import math
from importlib import resources

import yaml
from jinja2 import Environment, StrictUndefined

from sottovoce.pipelines.summary import RunSummary

SINKS_IN_WORDS = {
    "stt_am": "speech slices with their text, for the acoustic model of a recogniser",
    "stt_lm": "single lines of text, for the language model of a recogniser",
    "slu": "text with intent and slots, for language understanding",
    "dm": "whole dialogues, for dialogue management",
}

LARGEST_USEFUL_EPSILON = 20.0  # a factor of half a thousand million


def render_report(summary: RunSummary) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "count": lambda number: f"{number:,}",
        "share": lambda number: f"{number:.0%}",
        "size": in_bytes,
        "moment": as_moment,
        "time": in_time,
        "epsilon": in_epsilon,
        "odds": in_odds,
    }
    template = environment.from_string(resources.files(__package__).joinpath("report.html").read_text("utf-8"))
    return template.render(
        run=summary,
        sinks_in_words=SINKS_IN_WORDS,
        longest_s=max((stage.seconds for stage in summary.stages), default=0.0) or 1.0,
        settings=yaml.safe_dump(dict(summary.settings), sort_keys=False),
    )


def as_moment(iso: str) -> str:
    """2026-01-02T03:04:05+00:00 -> 2026-01-02 03:04 UTC"""
    moment = datetime.datetime.fromisoformat(iso)
    return f"{moment.astimezone(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"


def in_bytes(number: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} bytes"


def in_time(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    if seconds >= 60:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def in_epsilon(figure: float | str | None) -> str:
    if figure is None:
        return "not stated"
    return "infinite" if math.isinf(float(figure)) else f"{float(figure):.3g}"


def in_odds(figure: float | str | None) -> str:
    """An epsilon said plainly: by how much the output can change the odds between two values, e^epsilon at most."""
    if figure is None:
        return ""
    epsilon = float(figure)
    if epsilon == 0:
        return "not at all"
    if epsilon > LARGEST_USEFUL_EPSILON:
        return "no useful bound"
    factor = math.exp(epsilon)
    return f"at most \u00d7 {factor:,.0f}" if factor >= 100 else f"at most \u00d7 {factor:.3g}"
