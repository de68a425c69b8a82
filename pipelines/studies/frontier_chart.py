"""The frontier on one page: what speech teaches (errors after training on it) against what it hides (EER of the worst attacker).

Right is hidden, low is worth training on. One panel for each learner; a filled mark is one slice, a hollow one several
averaged. What needs no recording at all, or no training, is a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def draw(frontier: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Writes the chart to `path`, in the format of its suffix, from what `acoustic_results.frontier` gives."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    names = list(dict.fromkeys(name for sources in frontier.values() for name in sources))
    figure = Figure(figsize=(6.4 * len(frontier), 4.8 + 0.1 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(frontier), squeeze=False)[0]
    for panel, (learner, sources) in zip(panels, frontier.items(), strict=True):
        for source, figures in sources.items():
            _draw_source(panel, source, figures, colours[names.index(source) % len(colours)])
        panel.axhline(1.0, color="0.8", linewidth=0.8, zorder=0)
        panel.axvline(50, color="0.8", linewidth=0.8, zorder=0)
        panel.set(
            title=f"learner: {learner}",
            xlabel="EER of the worst attacker and encoder (%), 50: a coin toss",
            ylabel="word errors on others' original speech, times originals'",
            xlim=(-2, 54),
        )
    entries = {text: mark for panel in panels for mark, text in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(entries.values(), entries.keys(), fontsize="small", loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=110)


def _draw_source(panel: Any, source: str, figures: Mapping[str, Any], colour: Any) -> None:
    ratio = figures["wer_ratio"]
    if not figures["eer"]:
        panel.axhline(ratio["value"], color=colour, linestyle="--", linewidth=1, label=source)
        return
    for place, (count, rate) in enumerate(figures["eer"].items()):
        panel.errorbar(
            100 * rate["value"],
            ratio["value"],
            xerr=[[100 * (rate["value"] - rate["low"])], [100 * (rate["high"] - rate["value"])]],
            yerr=[[ratio["value"] - ratio["low"]], [ratio["high"] - ratio["value"]]],
            color=colour,
            fmt="o",
            markerfacecolor=colour if place == 0 else "white",
            elinewidth=0.6,
            label=f"{source}, {count} together",
        )
