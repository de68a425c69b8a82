"""May training start from this run? Thresholds on what the run, its ledger and its audits say.

Each check that is asked for passes or fails; a figure that is asked for and not there fails, because training on a run
that nobody measured is what the gate is to prevent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.settings import require

AUDIT_NOT_ASKED = "audit: not asked (audit)"  # as a decision notes it


@dataclass(frozen=True, slots=True)
class Check:
    """`says` holds figures and names of thresholds only. `passed` is None where the gate was not asked."""

    name: str
    passed: bool | None
    says: str


@dataclass(frozen=True)
class Gate:
    """A threshold of null is not asked for. `max_epsilon` is by unit, as in the ledger: {utterance: 8}.

    `recall_set` names the labelled set whose recall counts: the one most like the corpus. Without it the worst set does.
    `audit`: the run must have held out against `sottovoce audit`, as the job says (`audit.max_risk`, `audit.unmeasured`).
    `max_audit` holds the most that the risk of an attack may reach anywhere in the run, by its name in `audit.json`:
    {singling_out: 0.1}; of attacks that others made, by their name under `others`. The upper end of the interval is
    compared, since an attack measured on few records proves little.
    """

    max_failed_share: float | None = 0.1
    min_detector_recall: float | None = None
    recall_set: str | None = None
    max_epsilon: dict[str, float] = field(default_factory=dict)
    audit: bool = True
    max_audit: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        share, recall = self.max_failed_share, self.min_detector_recall
        require(
            (share is None or 0 <= share <= 1, "max_failed_share: must lie in [0, 1]"),
            (recall is None or 0 <= recall <= 1, "min_detector_recall: must lie in [0, 1]"),
            (all(limit >= 0 for limit in self.max_epsilon.values()), "max_epsilon: must not be negative"),
            (all(not math.isnan(limit) for limit in self.max_audit.values()), "max_audit: must be numbers"),
        )

    def judge(
        self, counts: Mapping[str, Any], ledger: Mapping[str, Any], audit: Mapping[str, Any], private: bool
    ) -> list[Check]:
        """`counts` of `_COMMITTED.json`, the content of `ledger.json`, and that of `audit.json`, empty where there is none.

        `private`: whether training adds a protection of its own.
        """
        return [
            self._judge_failures(counts),
            self._judge_recall(ledger),
            *self._judge_epsilon(ledger, private),
            *self._judge_audit(audit),
        ]

    def _judge_failures(self, counts: Mapping[str, Any]) -> Check:
        if self.max_failed_share is None:
            return Check("failures", None, "not asked (max_failed_share)")
        if "read" not in counts:
            return Check(
                "failures", False, "its exact counts stay in the private folder of its output, which is not here"
            )
        read, failed = counts.get("read", 0), counts.get("failed", 0)
        if read < 1:
            return Check("failures", False, "the run read no record")
        says = f"{failed} of {read} records failed ({failed / read:.3g}); allowed: {self.max_failed_share:g}"
        return Check("failures", failed / read <= self.max_failed_share, says)

    def _judge_recall(self, ledger: Mapping[str, Any]) -> Check:
        if self.min_detector_recall is None:
            return Check("recall", None, "not asked (min_detector_recall)")
        recall = detector_recall(ledger, self.recall_set)
        where = f"on {self.recall_set}" if self.recall_set else "on the worst of its sets"
        if recall is None:
            return Check("recall", False, f"the ledger has no measured recall of the detector {where}")
        says = f"detector recall at least {recall:.4g} {where}; needed: {self.min_detector_recall:g}"
        return Check("recall", recall >= self.min_detector_recall, says)

    def _judge_epsilon(self, ledger: Mapping[str, Any], private: bool) -> Iterator[Check]:
        if not self.max_epsilon:
            unbounded = None if private else unbounded_replacement(ledger)
            yield Check("epsilon", False if unbounded else None, unbounded or "not asked (max_epsilon)")
        for unit, limit in self.max_epsilon.items():
            epsilon = sound_epsilon(ledger, unit)
            if epsilon is None:
                yield Check(f"epsilon per {unit}", False, f"the ledger states no epsilon per {unit}")
            else:
                says = f"sound epsilon {epsilon:.4g} per {unit}; allowed: {limit:g}"
                yield Check(f"epsilon per {unit}", epsilon <= limit, says)

    def _judge_audit(self, audit: Mapping[str, Any]) -> Iterator[Check]:
        if not self.audit:
            yield Check("audit", None, AUDIT_NOT_ASKED.removeprefix("audit: "))
        elif not audit:
            yield Check(
                "audit",
                False,
                "there is none of these records; make it with: sottovoce audit --run OUT/ID --input CORPUS",
            )
        else:
            reasons = [str(reason) for reason in audit.get("reasons", ())]
            says = "; ".join(reasons) or _measured(audit)
            yield Check("audit", audit.get("held") is True and not reasons, says)
        for name, limit in self.max_audit.items():
            highest = highest_risk(audit, name)
            if highest is None:
                yield Check(f"audit {name}", False, "audit.json has no such result with an upper end")
            else:
                yield Check(f"audit {name}", highest <= limit, f"at most {highest:.4g}; allowed: {limit:g}")


def _measured(audit: Mapping[str, Any]) -> str:
    """What an audit that held has measured, how much it could not, and where the job allowed more than attacks ask for."""
    verdicts = Counter(str(result.get("verdict")) for result in audit.get("results", ()))
    says = f"{verdicts['held']} measured and held, " + ", ".join(
        f"{verdicts[verdict]} {verdict}" for verdict in ("not measurable", "not applicable")
    )
    eased = audit.get("eased")
    return f"{says}; the job allows more than the default: {', '.join(eased)}" if eased else says


def highest_risk(audit: Mapping[str, Any], attack: str) -> float | None:
    """The upper end of an attack's risk wherever it was tried; None where that is not known of each of them."""
    own = [row for row in audit.get("results", ()) if row["attack"] == attack and row["verdict"] != "not applicable"]
    found = [row.get("risk") for row in own] or [audit.get("others", {}).get(attack)]
    ends = [result.get("high") if isinstance(result, Mapping) else None for result in found]
    known = [float(end) for end in ends if isinstance(end, int | float) and not math.isnan(end)]
    return max(known) if len(known) == len(ends) else None


def detector_recall(ledger: Mapping[str, Any], named_set: str | None) -> float | None:
    """The recall that the detector of the run was measured at: lower end of the interval, on the named or the worst set.

    Of several detectors the best counts, since their union finds at least what the best one finds.
    """
    figures = []
    for row in ledger["mechanisms"]:
        measured = row["parameters"].get("measured") or {} if row["stage"] == "detect" else {}
        sets = measured.values() if named_set is None else filter(None, [measured.get(named_set)])
        figures += [min(result["interval"][0] for result in found)] if (found := list(sets)) else []
    return max(figures, default=None)


def sound_epsilon(ledger: Mapping[str, Any], unit: str) -> float | None:
    """What the mechanisms of the run give per unit, composed: the sum is sound for pure differential privacy."""
    figures = [row["sound"][unit] for row in ledger["mechanisms"] if row["sound"] and unit in row["sound"]]
    return sum(figures) if figures else None


def unbounded_replacement(ledger: Mapping[str, Any]) -> str | None:
    """Why a model that is trained without privacy of its own would give away what was replaced; None where it would not.

    What such a model gives away it has from the texts, so it is bounded by what the replacement gives.
    """
    rows = [row for row in ledger["mechanisms"] if row["stage"] in ("replace", "rewrite", "release")]
    figures = [epsilon for row in rows for epsilon in (row["sound"] or {"unit": math.inf}).values()]
    if figures and max(figures) < math.inf:
        return None
    said = "has an infinite epsilon" if figures else "is not in the ledger"
    return f"the replacement {said}, and mode plain protects nothing; name what is allowed (max_epsilon), or train privately"
