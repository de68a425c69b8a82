"""The tables as a picture: for each data set and model, what a method understands against what it gives away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

COLOURS = ("#222222", "#b3452c", "#d98c3f", "#8c6bb1", "#2c7fb8")
WIDE, HIGH, MARGIN = 260, 200, 46
AUC_FROM, AUC_TO = 0.4, 1.0


def chart(rows: Sequence[dict[str, Any]]) -> str:
    """An SVG page: SER to the right (less is better), membership AUC upwards (0.5 is a guess), with its interval."""
    panels = sorted({(row["dataset"], row["model"]) for row in rows})
    models = sorted({model for _, model in panels})
    datasets = sorted({dataset for dataset, _ in panels})
    methods = list(dict.fromkeys(row["method"] for row in rows))
    width, height = MARGIN + len(datasets) * (WIDE + MARGIN), 40 + len(models) * (HIGH + MARGIN) + 22 * len(methods)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for column, dataset in enumerate(datasets):
        for line, model in enumerate(models):
            chosen = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
            left, top = MARGIN + column * (WIDE + MARGIN), 30 + line * (HIGH + MARGIN)
            parts += _panel(f"{dataset}, {model}", chosen, methods, left, top)
    for number, method in enumerate(methods):
        y = 40 + len(models) * (HIGH + MARGIN) + 20 * number
        parts.append(f'<circle cx="{MARGIN}" cy="{y}" r="4" fill="{COLOURS[number % len(COLOURS)]}"/>')
        parts.append(f'<text x="{MARGIN + 10}" y="{y + 4}">{escape(method)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, rows: Sequence[dict[str, Any]], methods: list[str], left: int, top: int) -> list[str]:
    reach = max([1.0, *(row["ser"] for row in rows)])

    def across(ser: float) -> float:
        return left + WIDE * ser / reach

    def up(auc: float) -> float:
        clamped = min(max(auc, AUC_FROM), AUC_TO)
        return top + HIGH * (AUC_TO - clamped) / (AUC_TO - AUC_FROM)

    parts = [
        f'<text x="{left}" y="{top - 8}" font-weight="bold">{escape(title)}</text>',
        f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#999"/>',
        f'<line x1="{left}" x2="{left + WIDE}" y1="{up(0.5)}" y2="{up(0.5)}" stroke="#999" stroke-dasharray="4 3"/>',
        f'<text x="{left + WIDE - 4}" y="{top + HIGH + 14}" text-anchor="end">SER, 0 to {reach:.2g}</text>',
        f'<text x="{left}" y="{top + HIGH + 14}">AUC upwards; dashed: a guess</text>',
        *(f'<text x="{left - 4}" y="{up(a) + 4}" text-anchor="end">{a}</text>' for a in (0.5, 0.75, 1.0)),
    ]
    for row in rows:
        colour = COLOURS[methods.index(row["method"]) % len(COLOURS)]
        x, mia = across(row["ser"]), row["mia"]
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{up(mia["auc_low"]):.1f}" y2="{up(mia["auc_high"]):.1f}" stroke="{colour}"/>'
        )
        parts.append(f'<circle cx="{x:.1f}" cy="{up(mia["auc"]):.1f}" r="4" fill="{colour}"/>')
    return parts
