"""The page for the officer: three criteria by place, identifiers by what was done, guarantees as NIST asks for them.

It is made of `audit.json` and the ledger alone: figures, names of attacks and mechanisms, fixed words. A cell without a
measurement says so. Singling out, linkability and inference are the criteria of Opinion 05/2014 of the Article 29 Working Party,
which Recital 26 of the GDPR is read with; the identifiers are those of 45 CFR 164.514(b)(2); the guarantees are told by the
questions of NIST SP 800-226 (2025): unit, parameters, trust model, and what is not covered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from sottovoce.models.evaluation.audit import TABLE
from sottovoce.models.settings import resolve

NOT_MEASURED = "not measured"
CRITERIA = ("singling out", "linkability", "inference")
TRUST = "central: whoever holds the secret and the administrators of the workers see raw records; recipients of the run do not"
# Identifier of the safe harbour -> (types of spans that are looked for, type of the canaries that were planted).
IDENTIFIERS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "names": (("PER",), "PERSON"),
    "geographic subdivisions smaller than a state": (("LOC",), "PLACE"),
    "dates (except year) and ages over 89": (("DATE",), "DATE"),
    "telephone numbers": (("PHONE",), "PHONE"),
    "fax numbers": (("PHONE",), "PHONE"),
    "electronic mail addresses": (("EMAIL",), "EMAIL"),
    "social security numbers": (("ID", "CODE"), "ID"),
    "medical record numbers": (("ID", "CODE"), None),
    "health plan beneficiary numbers": (("ID", "CODE"), None),
    "account numbers": (("CARD", "IBAN", "CODE"), None),
    "certificate and licence numbers": (("ID", "CODE"), None),
    "vehicle identifiers and licence plates": (("CODE",), None),
    "device identifiers and serial numbers": (("CODE",), None),
    "web URLs": (("URL",), None),
    "IP addresses": (("URL", "CODE"), None),
}


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(resources.files(__package__).joinpath("audit.html").read_text("utf-8"))


def page(audit: Mapping[str, Any], ledger: Mapping[str, Any]) -> str:
    """HTML with every value escaped; a name that the template does not get is an error, not a gap."""
    return _template().render(
        audit=audit,
        criteria={name: [_cells(row) for row in audit["results"] if row["criterion"] == name] for name in CRITERIA},
        identifiers=_identifiers(audit, ledger),
        guarantees=_guarantees(ledger),
        not_protected=ledger["not_protected"],
        models=audit.get("others", {}) | _of_a_model(audit),
        attackers={name: str(resolve(row).says) for name, row in TABLE.items()},
        reached=reached,
    )


def reached(risk: float | None) -> str:
    """Of a calibration, which may have given none."""
    return NOT_MEASURED if risk is None else f"{risk:.3f}"


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    cells = {"attack": row["attack"], "where": row["where"], "verdict": row["verdict"]}
    if "risk" not in row:
        return cells | {"rates": NOT_MEASURED, "risk": NOT_MEASURED, "note": row.get("why", "")}
    risk = row["risk"]
    return cells | {
        "rates": f"{row['attack_rate']['value']:.3f} / {row['control_rate']['value']:.3f}",
        "risk": f"{risk['value']:.3f} ({risk['low']:.3f} to {risk['high']:.3f}); allowed {row['allowed']:g}",
        "note": ", ".join(f"{name}: {value:g}" for name, value in row["more"].items()),
    }


def _of_a_model(audit: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """What trainings gave away that were made to be measured."""
    rows = [row for row in audit["results"] if row["where"] == "model" and "risk" in row]
    return {
        f"{row['attack'].replace('_', ' ')}: {name}": {"value": value}
        for row in rows
        for name, value in row["more"].items()
    }


def _identifiers(audit: Mapping[str, Any], ledger: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """(identifier, what is done, recall of canaries, n)."""
    read = [row for row in audit["results"] if row["attack"] == "canary_words" and row["where"] == "text sinks"]
    found = read[0].get("more", {}) if read else {}
    voices = [row["mechanism"] for row in ledger["mechanisms"] if row["stage"] == "voice"]
    replaced = [row["mechanism"] for row in ledger["mechanisms"] if row["stage"] in ("replace", "rewrite")]
    detectors, looked_for = _detection(ledger)
    rows = []
    for name, (types, canary) in IDENTIFIERS.items():
        recall, count = found.get(f"recall of {canary}"), found.get(f"n of {canary}")
        kinds = ", ".join(kind for kind in types if looked_for is None or kind in looked_for)
        done = f"looked for by {detectors} ({kinds}), " if kinds else f"not looked for by {detectors}"
        done += (f"replaced by {', '.join(replaced)}" if replaced else "masked in speech") if kinds else ""
        measured = NOT_MEASURED if recall is None else f"{recall:.3f}"
        rows.append((name, done, measured, NOT_MEASURED if count is None else f"{count:.0f}"))
    voice = f"the voice is changed by {', '.join(voices)}" if voices else "the run releases no speech"
    by_voice = [row for row in audit["results"] if row["attack"] == "speakers_by_voice" and "risk" in row]
    told = f"linked again: risk {by_voice[0]['risk']['value']:.3f}" if by_voice else NOT_MEASURED
    rows.append(
        ("biometric identifiers, voice prints", voice, told, str(by_voice[0]["trials"]) if by_voice else NOT_MEASURED)
    )
    rows.append(("full-face photographs", "no picture is read or released", "does not apply", "does not apply"))
    other = "nothing: what no detector marks is released as it was said"
    rows.append(("any other unique number, characteristic or code", other, "see singling out", "see singling out"))
    return rows


def _detection(ledger: Mapping[str, Any]) -> tuple[str, set[str] | None]:
    """(the detectors by name, the types that they were told to find; None where a model knows them)."""
    rows = [r for r in ledger["mechanisms"] if r["stage"] == "detect" and "sensitive_slots" not in r["parameters"]]
    members = [own for row in rows for own in row["parameters"].get("detectors", {"": row["parameters"]}).values()]
    stated = [own.get("types") for own in members]
    names = ", ".join(row["mechanism"] for row in rows) or "nobody"
    if None in stated:
        return names, None
    return names, {kind for types in stated for kind in (types.values() if isinstance(types, Mapping) else types)}


def _guarantees(ledger: Mapping[str, Any]) -> list[dict[str, str]]:
    rows = []
    for row in ledger["mechanisms"]:
        if row["sound"]:
            figures = [f"{unit}: {_epsilon(value)}" for unit, value in row["sound"].items()]
            rows.append(
                {
                    "mechanism": f"{row['stage']}: {row['mechanism']}",
                    "unit": row["adjacency"] or "not stated",
                    "epsilon": "; ".join(figures),
                    "because": row["infinite_because"] or "",
                    "trust": TRUST,
                    "not_covered": "; ".join(row["not_protected"]),
                }
            )
    return rows


def _epsilon(value: Any) -> str:
    return "infinite" if math.isinf(float(value)) else f"{float(value):.3g}"


def registry_entry(audit: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The run by the fields of OpenDP's registry of deployments (opendp/deployments-registry-data). What only the operator
    knows is null: who publishes, for whom, and why these parameters. The audit stands beside them under a name of its own."""
    stated = [row for row in ledger["mechanisms"] if row["sound"]]
    product = dict.fromkeys(
        ("data_curators", "intended_use", "data_product_region", "data_product_sector", "description")
    )
    parameters = {row["mechanism"]: {unit: _epsilon(e) for unit, e in row["sound"].items()} for row in stated}
    deployment = {
        "product": {
            "name": audit["run_id"],
            **product,
            "data_product_type": "Training data",
            "publication_date": ledger["created"][:10],
        },
        "dp_flavor": {
            "name": "Pure DP" if stated else None,
            "data_domain": "Recordings and transcripts of a voice assistant",
            "unprotected_quantities": "\n".join([*ledger["released_exactly"], *ledger["not_protected"]]),
        },
        "privacy_loss": {
            "privacy_unit": "see privacy_parameters: by unit of the ledger" if stated else None,
            "privacy_unit_description": "\n".join(f"{row['mechanism']}: {row['adjacency']}" for row in stated),
            "privacy_parameters": {"epsilon": parameters},
        },
        "model": {
            "model_name": "Central",
            "actors": TRUST,
            "release_type": None,
            "data_source_type": None,
            "access_type": "Non-interactive",
        },
        "accounting": {"post_processing": None, "composition": "Pure epsilons are summed by unit (ledger.json)."},
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": None,
            "mechanisms": "\n".join(f"{row['stage']}: {row['says']}" for row in ledger["mechanisms"]),
            "justification": None,
        },
        "resources": {"sources": None, "registry_authors": None},
    }
    risks = {f"{row['attack']} ({row['where']})": row["risk"] for row in audit["results"] if "risk" in row}
    measured = {"commit": audit["commit"], "held": audit["held"], "risks": risks}
    return {"url_slug": None, "status": "Draft", "tier": None, "deployment": deployment, "sottovoce_audit": measured}
