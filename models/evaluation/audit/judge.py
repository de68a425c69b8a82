"""Every attack on the same material, with its calibration, as the content of `audit.json`.

A result holds figures, names of attacks and sinks, and fixed words: nothing of a record and nobody's id, so that the file
may be shown to whoever asks. An attack that raises an error is a failed audit; its error is told by type and place.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.models.errors import told_by_place
from sottovoce.models.evaluation.audit import TABLE, AuditAttack
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import Figures, NotApplicable, NotMeasurable, Outcome, Trials, figures
from sottovoce.models.evaluation.metrics.estimate import Estimate
from sottovoce.models.randomness import Secret
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
            if not outcomes:
                raise ValueError("the attack says nothing of any sink")
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
    found = {
        "attack": name,
        "risk_where_nothing_leaks": float(np.max(nothing)) if nothing else None,  # NaN, where one is, unlike max()
        "risk_where_all_leaks": float(np.min(everything)) if everything else None,
    }
    return found | {"fit": _is_fit(found)}


def _is_fit(found: Mapping[str, Any]) -> bool:
    nothing, everything = (_number(found.get(f"risk_where_{what}")) for what in ("nothing_leaks", "all_leaks"))
    return nothing <= FIT_BELOW and everything >= FIT_ABOVE


def _number(value: Any) -> float:
    """Not a number is within no bound."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _result(outcome: Outcome, allowed: float, fit: bool) -> dict[str, Any]:
    """Raises ValueError where an attack made no guess, or one that is no number: nothing held then."""
    if isinstance(outcome, NotMeasurable):
        return {"verdict": UNMEASURED, "why": f"needs {outcome.needs}"}
    if isinstance(outcome, NotApplicable):
        return {"verdict": NOT_APPLICABLE, "why": outcome.why}
    if not len(outcome.hits) or not np.isfinite([*outcome.hits, *outcome.control]).all():
        raise ValueError("guesses that are none")
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


def eased_by_the_job(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Thresholds above those that the attacks ask for. At 1 nothing can fall."""
    allowed = {row["attack"]: _number(row.get("allowed")) for row in results if row["attack"] in TABLE}
    by_default = AuditSettings()
    asked = {name: by_default.allowed(name) for name in allowed}
    return [f"{name} {most:g} (default {asked[name]:g})" for name, most in allowed.items() if most > asked[name]]


def audit_seal(secret: Secret, content: Mapping[str, Any]) -> str:
    """Nobody without the secret can write an audit that is taken for one. What others found is the operator's own entry."""
    own = {name: value for name, value in content.items() if name not in ("seal", "others")}
    return secret.token("audit", json.dumps(own, sort_keys=True))


def contradictions(content: Mapping[str, Any]) -> list[str]:
    """What an audit says that does not follow from its own figures: it is believed by its rows, never by its word."""
    results, fitness = content["results"], {row["attack"]: row for row in content["calibration"]}
    tried = {result["attack"] for result in results}
    found = [f"no result of {name}" for name in TABLE if name not in tried]
    for result in results:
        name, risk = result["attack"], result.get("risk")
        if result["verdict"] not in (HELD, FELL, UNMEASURED, NOT_APPLICABLE, FAILED):
            found.append(f"{name}: no such verdict")
        if (result["verdict"] in (UNMEASURED, NOT_APPLICABLE)) != (risk is None) and result["verdict"] != FAILED:
            found.append(f"{name}: the verdict does not go with its figures")
        if result["verdict"] == HELD and risk is not None:
            allowed = _number(result["allowed"])
            if not (_number(risk.get("high")) <= allowed <= 1 and "why" not in result):
                found.append(f"{name}: held, and its risk is not within what is allowed")
            if not (fitness.get(name, {}).get("fit") is True and _is_fit(fitness[name])):
                found.append(f"{name}: held, and its attacker is not fit")
    reasons = reasons_not_held(results, content["unmeasured"])
    if content["unmeasured"] not in ("refuse", "allow"):
        found.append("unmeasured: neither refuse nor allow")
    if content["reasons"] != reasons or content["held"] is not (not reasons):
        found.append("held and reasons do not follow from the results")
    if content["eased"] != eased_by_the_job(results):
        found.append("what the job allows is not what it says of it")
    return found


def _said(result: Mapping[str, Any]) -> str:
    if result["verdict"] == FELL and "why" not in result:
        return f"risk at most {result['risk']['high']:.3g}; allowed: {result['allowed']:g}"
    return f"{result['verdict']}: {result['why']}"
