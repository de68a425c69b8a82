"""Epsilon against intent accuracy, all strategies of rewriting, one panel for each corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sottovoce.pipelines.studies.measure_rewrite import MeasuredRewrite


def _name(row: MeasuredRewrite) -> str:
    unit = ", a dialogue" if row.guarantee.endswith("dialogue") else ""
    return row.strategy + unit + (" and public sentences" if row.public else "")


def draw(rows: Sequence[MeasuredRewrite], path: Path) -> None:
    """Strategies with an epsilon as curves; none and replace, which have none, as level lines."""
    from matplotlib.figure import Figure

    corpora = list(dict.fromkeys(row.corpus for row in rows))
    figure = Figure(figsize=(4.6 * len(corpora), 3.8), layout="constrained")
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for panel, corpus in zip(panels, corpora, strict=True):
        for number, name in enumerate(dict.fromkeys(map(_name, rows))):
            mine = [(row.epsilon or 0.0, row) for row in rows if (row.corpus, _name(row)) == (corpus, name)]
            own = sorted(mine, key=lambda pair: pair[0])
            if own and own[0][1].epsilon is None:
                panel.axhline(100 * own[0][1].intent_accuracy, color=f"C{number}", linestyle="--", label=name)
            elif own:
                heights = [100 * row.intent_accuracy for _, row in own]
                errors = [100 * row.intent_interval for _, row in own]
                panel.errorbar(
                    [at for at, _ in own], heights, errors, color=f"C{number}", marker="o", capsize=3, label=name
                )
        panel.set(
            title=corpus,
            xscale="log",
            xlabel="epsilon (of a speaker, an utterance, a distance)",
            ylabel="intent accuracy (%)",
        )
        panel.grid(alpha=0.3)
    known = {name: line for panel in panels for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=6, fontsize="small")
    figure.savefig(path, dpi=110)
