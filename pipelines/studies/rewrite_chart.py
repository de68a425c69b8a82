"""Epsilon against intent accuracy, all strategies of rewriting, one panel for each corpus."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from sottovoce.pipelines.studies.measure_rewrite import MeasuredRewrite


def _name(row: MeasuredRewrite) -> str:
    unit = ", a dialogue" if row.guarantee.endswith("dialogue") else ""
    return row.strategy + unit + (" and public sentences" if row.public else "")


def _epsilons(rows: Sequence[MeasuredRewrite]) -> list[float]:
    return sorted({row.epsilon for row in rows if row.epsilon is not None})


def draw(rows: Sequence[MeasuredRewrite], path: Path) -> None:
    """Strategies with an epsilon as curves of means over draws; none and replace, which have none, as level lines."""
    from matplotlib.figure import Figure

    corpora = list(dict.fromkeys(row.corpus for row in rows))
    figure = Figure(figsize=(4.6 * len(corpora), 3.8), layout="constrained")
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for panel, corpus in zip(panels, corpora, strict=True):
        for number, name in enumerate(dict.fromkeys(map(_name, rows))):
            mine = [row for row in rows if (row.corpus, _name(row)) == (corpus, name)]
            if mine and mine[0].epsilon is None:
                panel.axhline(100 * mine[0].intent_accuracy, color=f"C{number}", linestyle="--", label=name)
            elif mine:
                heights = {
                    at: [100 * row.intent_accuracy for row in mine if row.epsilon == at] for at in _epsilons(mine)
                }
                errors = [100 * next(row.intent_interval for row in mine if row.epsilon == at) for at in heights]
                means = list(map(statistics.mean, heights.values()))
                panel.errorbar(list(heights), means, errors, color=f"C{number}", marker="o", capsize=3, label=name)
        panel.set(
            title=corpus,
            xscale="log",
            xlabel="epsilon (of a speaker, an utterance, a distance)",
            ylabel="intent accuracy (%)",
        )
        ticks = _epsilons([row for row in rows if row.corpus == corpus])
        panel.set_xticks(ticks, [f"{at:g}" for at in ticks])
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.3)
    known = {name: line for panel in panels for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=6, fontsize="small")
    figure.savefig(path, dpi=110)
