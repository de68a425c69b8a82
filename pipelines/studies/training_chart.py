"""The tables as a picture: for each data set and model, what a method understands against what it gives away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Errors to the right (less is better), membership AUC upwards with its interval (0.5 is a guess)."""
    from matplotlib.figure import Figure

    datasets = sorted({row["dataset"] for row in rows})
    models = list(dict.fromkeys(row["model"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure = Figure(figsize=(3.4 * len(datasets), 2.9 * len(models) + 0.3 * len(methods)), layout="constrained")
    grid = figure.subplots(len(models), len(datasets), squeeze=False, sharey=True)
    for panels, model in zip(grid, models, strict=True):
        for panel, dataset in zip(panels, datasets, strict=True):
            chosen = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
            if not chosen:  # a model of another task
                panel.set_axis_off()
                continue
            _panel(panel, chosen, methods)
            panel.set(title=f"{dataset}, {model}", ylabel="membership AUC", ylim=(0.4, 1.02))
            panel.set_xlabel(chosen[0]["shown"][0].replace("_", " "))
    named = {
        name: handle for panel in grid.flat for handle, name in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), loc="outside lower center", fontsize="small")
    figure.savefig(path, metadata={"Date": None})  # no date: the same rows give the same picture


def _panel(panel: Any, rows: Sequence[dict[str, Any]], methods: Sequence[str]) -> None:
    panel.axhline(0.5, color="0.6", linestyle="--")
    panel.grid(alpha=0.3)
    for row in rows:
        mia = row["mia"]
        below, above = mia["auc"] - mia["auc_low"], mia["auc_high"] - mia["auc"]
        colour = f"C{methods.index(row['method'])}"
        panel.errorbar(
            row["scores"][row["shown"][0]],
            mia["auc"],
            [[below], [above]],
            color=colour,
            marker="o",
            label=row["method"],
        )
