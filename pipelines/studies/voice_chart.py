"""Histograms of the worst attackers' scores, and their detection error trade-off (DET), on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.evaluation.attacks import TABLE
from sottovoce.pipelines.studies.voice_results import AttackResult, pairs

TICKS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)


def draw(results: Sequence[AttackResult], path: Path) -> None:
    """One histogram for each attacker (its worst encoder, one utterance), and the DET curves of all of them."""
    from matplotlib.figure import Figure

    shown = _worst_of_each(results)
    figure = Figure(figsize=(4 * (len(shown) + 1), 3.8), layout="constrained")
    panels = figure.subplots(1, len(shown) + 1)
    for number, (panel, result) in enumerate(zip(panels, shown, strict=False)):
        mated, non_mated = pairs(result.attack.scores)
        low, high = np.quantile(np.concatenate([mated, non_mated]), [0.001, 0.999])
        edges = np.linspace(float(low), float(high), 40)
        panel.hist(non_mated, edges, density=True, alpha=0.5, color="0.5", label="two speakers")
        panel.hist(mated, edges, density=True, alpha=0.6, color=f"C{number}", label="one speaker")
        title = f"{result.attack.attacker}, {result.encoder}\n{result.attack.score}: EER {100 * result.eer.value:.1f} %"
        panel.set(title=title, xlabel="score", yticks=[])
        panel.legend(fontsize="small")
        _det(panels[-1], mated, non_mated, f"C{number}", result.attack.attacker)
    _frame(panels[-1])
    figure.savefig(path, dpi=110)


def _worst_of_each(results: Sequence[AttackResult]) -> list[AttackResult]:
    found: dict[str, AttackResult] = {}
    for result in sorted(results, key=lambda result: result.eer.value):
        if result.attack.together == 1:
            found.setdefault(result.attack.attacker, result)
    order = list(TABLE)
    return sorted(found.values(), key=lambda result: order.index(result.attack.attacker))


def _det(panel: Any, mated: np.ndarray, non_mated: np.ndarray, colour: str, label: str) -> None:
    from scipy.special import ndtri

    at = np.unique(np.concatenate([mated, non_mated]))
    misses = np.searchsorted(np.sort(mated), at) / len(mated)
    alarms = 1 - np.searchsorted(np.sort(non_mated), at) / len(non_mated)
    inside = (misses > 0) & (misses < 1) & (alarms > 0) & (alarms < 1)
    panel.plot(ndtri(alarms[inside]), ndtri(misses[inside]), color=colour, label=label)


def _frame(panel: Any) -> None:
    from scipy.special import ndtri

    places, labels = ndtri(TICKS), [f"{100 * tick:g}" for tick in TICKS]
    panel.plot(places[[0, -1]], places[[0, -1]], color="0.8", linewidth=0.8)  # misses equal false alarms
    panel.set_xticks(places, labels)
    panel.set_yticks(places, labels)
    panel.set(title="DET", xlabel="false alarms (%)", ylabel="misses (%)", xlim=places[[0, -1]], ylim=places[[0, -1]])
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
