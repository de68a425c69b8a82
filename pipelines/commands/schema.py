"""`sottovoce schema`: JSON schemas of job and train files, so that editors complete them, and of `audit.json`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import types
import typing
from typing import Any

from sottovoce.models.settings import FAMILIES, member_class, table

EXAMPLES = """\
  sottovoce schema job > job.schema.json       # then, first line of job.yaml: # yaml-language-server: $schema=job.schema.json
  sottovoce schema train > train.schema.json
  sottovoce schema audit > audit.schema.json   # of what `sottovoce audit` writes
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("job", "train", "audit"), help="of job.yaml, train.yaml or audit.json")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.audit.audit_schema import audit_schema

    made = {"job": job_schema, "train": train_schema, "audit": audit_schema}[args.what]
    print(json.dumps(made(), indent=2))
    return 0


def job_schema() -> dict[str, Any]:
    """Of a job file, from the very classes that check one: each family by its members, unknown keys refused."""
    from sottovoce.pipelines.sanitize.job_file import SECTIONS, SHARED
    from sottovoce.transforms import sinks

    share = {"type": "number", "minimum": 0}
    properties = {name: _of_fields(cls) for name, cls in SECTIONS.items()}
    properties["sinks"] = _mapping({name: share for name in sinks.TABLE})
    properties["forget"] = {"type": "boolean"}
    for family in FAMILIES:
        shared = _of_fields(SHARED[family])["properties"] if family in SHARED else {}
        properties[family] = _of_family(family, shared)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "job.yaml", **_mapping(properties)}


def train_schema() -> dict[str, Any]:
    """Of a train file, from the fields of `TrainSettings`."""
    from sottovoce.models.training.train_settings import TrainSettings

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "train.yaml",
        **_of_fields(TrainSettings),
    }


def _of_family(family: str, shared: dict[str, Any]) -> dict[str, Any]:
    """A member by name, "name:model", or as a mapping with its options."""
    names = list(table(family))
    mappings = [
        _mapping(
            {"use": {"type": "string", "pattern": f"^{name}(:.*)?$"}} | _fields(member_class(family, name)) | shared
        )
        | {"required": ["use"]}
        for name in names
    ]
    default = _mapping(shared) if shared else None
    named = {"type": "string", "anyOf": [{"enum": names}, {"pattern": f"^({'|'.join(names)}):"}]}
    return {"anyOf": [named, *mappings, *([default] if default else [])]}


def _mapping(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _of_fields(cls: type) -> dict[str, Any]:
    return _mapping(_fields(cls))


def _fields(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: _of_hint(hints[field.name]) for field in dataclasses.fields(cls) if field.init}


def _of_hint(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of_hint(option) for option in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _of_hint(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of_hint(arguments[1])}
    plain = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": plain[hint]} if hint in plain else {}
