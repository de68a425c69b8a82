"""The JSON schema of `audit.json`: numbers, names of attacks and sinks, and fixed words; no place for anything else."""

from __future__ import annotations

from typing import Any

from sottovoce.models.evaluation.audit.judge import FAILED, FELL, HELD, NOT_APPLICABLE, UNMEASURED

NUMBER, TEXT, COUNT = {"type": "number"}, {"type": "string"}, {"type": "integer", "minimum": 0}


def audit_schema() -> dict[str, Any]:
    """Unknown keys are refused, except among an attack's further numbers (`more`) and the findings of outsiders (`others`)."""
    estimate = _object({"value": NUMBER, "low": NUMBER, "high": NUMBER})
    result = {
        "attack": TEXT,
        "criterion": {"enum": ["singling out", "linkability", "inference"]},
        "where": TEXT,
        "verdict": {"enum": [HELD, FELL, UNMEASURED, NOT_APPLICABLE, FAILED]},
        "allowed": NUMBER,
        "why": TEXT,
        "attack_rate": estimate,
        "control_rate": estimate,
        "risk": estimate,
        "trials": COUNT,
        "people": COUNT,
        "more": {"type": "object", "additionalProperties": NUMBER},
    }
    known = {"type": ["number", "null"]}
    calibration = {
        "attack": TEXT,
        "risk_where_nothing_leaks": known,
        "risk_where_all_leaks": known,
        "fit": {"type": "boolean"},
    }
    content = {
        "version": {"const": 1},
        "run_id": TEXT,
        "commit": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "created": {"type": "string", "format": "date-time"},
        "full": {"type": "boolean"},
        "sampled": _object({"people": COUNT, "of_people": COUNT, "records": COUNT}),
        "unmeasured": {"enum": ["refuse", "allow"]},
        "held": {"type": "boolean"},
        "reasons": {"type": "array", "items": TEXT},
        "results": {
            "type": "array",
            "items": _object(result, ("attack", "criterion", "where", "verdict", "allowed")),
        },
        "calibration": {"type": "array", "items": _object(calibration)},
        "eased": {"type": "array", "items": TEXT},
        "seconds": NUMBER,
        "seal": {"type": ["string", "null"]},
        "others": {"type": "object", "additionalProperties": estimate},
    }
    needed = tuple(name for name in content if name != "others")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "audit.json"}
    return schema | _object(content, needed)


def _object(properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    names = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
