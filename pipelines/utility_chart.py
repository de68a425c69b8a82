"""Epsilon against intent accuracy, one panel for each corpus, as Figure 1 of Adelani et al. has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sottovoce.models.metrics.utility import Cell


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Surrogates as curves over epsilon; no replacement and placeholders, which have one figure, as level lines."""
    from matplotlib.figure import Figure

    corpora = list(dict.fromkeys(cell.corpus for cell in cells))
    figure = Figure(figsize=(4.6 * len(corpora), 4.2), layout="constrained")
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    strategies = list(dict.fromkeys(cell.strategy for cell in cells))
    for panel, corpus in zip(panels, corpora, strict=True):
        for number, strategy in enumerate(strategies):
            own = [cell for cell in cells if (cell.corpus, cell.strategy) == (corpus, strategy)]
            if len(own) == 1:
                panel.axhline(100 * own[0].accuracy.mean, color=f"C{number}", linestyle="--", label=strategy)
                continue
            panel.errorbar(
                [cell.epsilon for cell in own],
                [100 * cell.accuracy.mean for cell in own],
                [100 * cell.accuracy.deviation for cell in own],
                color=f"C{number}",
                marker="o",
                capsize=3,
                label=strategy,
            )
        panel.set(title=corpus, xlabel="epsilon of one replaced unit", ylabel="intent accuracy (%), untouched test set")
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    figure.savefig(path, dpi=120)
