"""Epsilon against what the data is worth, one column for each corpus, as Figure 1 of Adelani et al. has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.evaluation.metrics.utility import Cell, Spread


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Surrogates as curves over epsilon; no replacement and placeholders, which have one figure, as level lines."""
    from matplotlib.figure import Figure

    corpora = list(dict.fromkeys(cell.corpus for cell in cells))
    rows = [("intent accuracy (%)", lambda cell: cell.accuracy)]
    if any(cell.slot_f1 is not None for cell in cells):
        rows.append(("slot F1 (%)", lambda cell: cell.slot_f1))
    figure = Figure(figsize=((4.6 if len(corpora) < 4 else 3.1) * len(corpora), 3.6 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(corpora), squeeze=False)
    for panels, (title, value) in zip(grid, rows, strict=True):
        for panel, corpus in zip(panels, corpora, strict=True):
            own = [(cell, value(cell)) for cell in cells if cell.corpus == corpus and value(cell) is not None]
            _panel(panel, own, list(dict.fromkeys(cell.strategy for cell in cells)))
            panel.set(title=corpus, xlabel="epsilon of one replaced unit", ylabel=title)
    named = grid[0][0].get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=3 * len(corpora), fontsize="small")
    figure.savefig(path, dpi=110)


def _panel(panel: Any, points: Sequence[tuple[Cell, Spread]], strategies: Sequence[str]) -> None:
    for number, strategy in enumerate(strategies):
        own = [
            (cell.epsilon, 100 * spread.mean, 100 * spread.deviation)
            for cell, spread in points
            if cell.strategy == strategy
        ]
        if len(own) == 1:
            panel.axhline(own[0][1], color=f"C{number}", linestyle="--", label=strategy)
        elif own:
            epsilons, means, deviations = zip(*own, strict=True)
            panel.errorbar(epsilons, means, deviations, color=f"C{number}", marker="o", capsize=3, label=strategy)
    panel.grid(alpha=0.3)
