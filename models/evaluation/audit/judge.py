"""Every attack on the same material, with its calibration, as the content of `audit.json`.

A result holds figures, names of attacks and sinks, and fixed words: nothing of a record and nobody's id, so that the file
may be shown to whoever asks. An attack that raises an error is a failed audit; its error is told by type and place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.models.errors import told_by_place
from sottovoce.models.evaluation.audit import TABLE, AuditAttack
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import Figures, NotApplicable, NotMeasurable, Outcome, Trials, figures
from sottovoce.models.evaluation.metrics.estimate import Estimate
from sottovoce.models.settings import resolve

SEED = (
    17  # of the invented releases: the calibration is the same each time, so that it fails where the attacker changed
)
FIT_BELOW, FIT_ABOVE = 0.1, 0.7  # of the risk on what leaks nothing, and on what leaks by design

HELD, FELL, UNMEASURED, NOT_APPLICABLE, FAILED = "held", "fell", "not measurable", "not applicable", "failed"


def attacked(
    material: Material, settings: AuditSettings, told: Callable[[str], None] = lambda _: None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(results, calibrations). `told` hears the name of each attack before it begins."""
    results: list[dict[str, Any]] = []
    fitness: list[dict[str, Any]] = []
    for name, row in TABLE.items():
        told(name)
        attack: AuditAttack = resolve(row)()
        allowed = settings.allowed(name)
        common: dict[str, Any] = {"attack": name, "criterion": attack.criterion, "allowed": allowed}
        try:
            outcomes = attack.outcomes(material)
            if any(isinstance(outcome, Trials) for outcome in outcomes.values()):
                fitness.append(calibrated(name, attack))
            fit = fitness[-1]["fit"] if fitness and fitness[-1]["attack"] == name else True
            results += [common | {"where": where} | _result(o, allowed, fit) for where, o in outcomes.items()]
        except Exception as error:  # noqa: BLE001 - whatever went wrong, nothing of the material may get out
            results.append(common | {"where": "all sinks", "verdict": FAILED, "why": told_by_place(error)})
    return results, fitness


def calibrated(name: str, attack: AuditAttack) -> dict[str, Any]:
    """The risk on both invented releases: the highest where nothing leaks, the lowest where everything does."""
    nothing, everything = (
        [figures(outcome).risk.value for outcome in attack.outcomes(invented).values() if isinstance(outcome, Trials)]
        for invented in (
            attack.leaks_nothing(np.random.default_rng(SEED)),
            attack.leaks_by_design(np.random.default_rng(SEED)),
        )
    )
    fit = bool(nothing and everything) and max(nothing) <= FIT_BELOW and min(everything) >= FIT_ABOVE
    return {
        "attack": name,
        "risk_where_nothing_leaks": max(nothing, default=None),
        "risk_where_all_leaks": min(everything, default=None),
        "fit": fit,
    }


def _result(outcome: Outcome, allowed: float, fit: bool) -> dict[str, Any]:
    if isinstance(outcome, NotMeasurable):
        return {"verdict": UNMEASURED, "why": f"needs {outcome.needs}"}
    if isinstance(outcome, NotApplicable):
        return {"verdict": NOT_APPLICABLE, "why": outcome.why}
    found = figures(outcome)
    if not fit:
        return {"verdict": FAILED, "why": "the attacker is not fit: its calibration failed"} | _shown(found)
    if outcome.refuted:
        return {"verdict": FELL, "why": outcome.refuted} | _shown(found)
    return {"verdict": HELD if found.risk.high <= allowed else FELL} | _shown(found)


def _shown(found: Figures) -> dict[str, Any]:
    return {
        "attack_rate": _rounded(found.attack),
        "control_rate": _rounded(found.control),
        "risk": _rounded(found.risk),
        "trials": found.trials,
        "people": found.people,
        "more": {name: round(value, 4) for name, value in found.more.items()},
    }


def _rounded(estimate: Estimate) -> dict[str, float]:
    """Four digits: enough to judge by, and no more than a sample of thousands carries."""
    return {name: round(value, 4) for name, value in dataclasses.asdict(estimate).items()}


def reasons_not_held(results: Sequence[Mapping[str, Any]], unmeasured: str) -> list[str]:
    """Why a run did not hold, one line each; none where it did."""
    bad = {FELL, FAILED} | ({UNMEASURED} if unmeasured == "refuse" else set())
    return [
        f"{result['attack']} ({result['where']}): {_said(result)}" for result in results if result["verdict"] in bad
    ]


def _said(result: Mapping[str, Any]) -> str:
    if result["verdict"] == FELL and "why" not in result:
        return f"risk at most {result['risk']['high']:.3g}; allowed: {result['allowed']:g}"
    return f"{result['verdict']}: {result['why']}"
