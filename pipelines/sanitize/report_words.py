"""Figures of the report as people read them: sizes, times, epsilons, parameters."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

from sottovoce.models.ledger.measured import OF_DETECTORS

LARGEST_USEFUL_EPSILON = 20.0  # a factor of half a thousand million


def as_moment(iso: str) -> str:
    """2026-01-02T03:04:05+00:00 -> 2026-01-02 03:04 UTC"""
    moment = datetime.datetime.fromisoformat(iso)
    return f"{moment.astimezone(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"


def in_bytes(number: float) -> str:
    """In decimal units: 1 kB is 1000 bytes."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} bytes"


def in_time(seconds: float) -> str:
    """In h, min, s or ms, the largest of which there is at least one."""
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    if seconds >= 60:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def in_epsilon(figure: float | str | None) -> str:
    """Three digits; None is "not stated", and "inf", as JSON spells it, is "infinite"."""
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


def in_words(value: Any) -> str:
    """A parameter as a reader would write it: lists with commas, tables as pairs. What was measured of it has its own table."""
    if isinstance(value, Mapping):
        shown = [f"{name} {in_words(item)}" for name, item in value.items() if name not in OF_DETECTORS]
        return ", ".join(shown) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
