"""Every member of every table has what its Protocol names, with the parameters that it names: what a run asks for is there."""

from __future__ import annotations

import importlib
import inspect
import typing
from typing import Any

import pytest

from sottovoce.models.settings import TABLES, resolve

PROTOCOLS = {
    "sottovoce.models.corpus": "Reader",
    "sottovoce.models.text.detect": "Detector",
    "sottovoce.models.text.replace": "Strategy",
    "sottovoce.models.text.rewrite": "Rewriter",
    "sottovoce.models.speech.align": "Aligner",
    "sottovoce.models.speech.voice": "Anonymiser",
    "sottovoce.models.speech.mask": "Masker",
    "sottovoce.models.speech.recognise": "Listener",
    "sottovoce.models.speech.speakers": "SpeakerEncoder",
    "sottovoce.models.evaluation.learners": "Learner",
    "sottovoce.models.evaluation.attacks": "VoiceAttacker",
    "sottovoce.models.evaluation.audit": "AuditAttack",
    "sottovoce.models.evaluation.audit.readers": "TextReader",
    "sottovoce.models.evaluation.metrics": "Metric",
    "sottovoce.models.export": "Exporter",
    "sottovoce.models.launch": "Launcher",
}
BASES = {
    "sottovoce.models.training",
    "sottovoce.models.training.tasks",
}  # their members inherit a class, not a Protocol


def test_every_family_has_its_protocol() -> None:
    assert set(TABLES.values()) <= set(PROTOCOLS) | BASES


@pytest.mark.parametrize("family", PROTOCOLS)
def test_a_member_has_what_its_protocol_names(family: str) -> None:
    package = importlib.import_module(family)
    protocol = getattr(package, PROTOCOLS[family])
    wrong = {name: told for name, row in package.TABLE.items() if (told := _missing(protocol, resolve(row)))}
    assert package.TABLE and not wrong


def _missing(protocol: Any, member: Any) -> list[str]:
    if inspect.isfunction(member):
        return [] if _takes(member, list(inspect.signature(protocol.__call__).parameters)[1:]) else ["parameters"]
    methods = {name: asked for name, asked in vars(protocol).items() if inspect.isfunction(asked) and name[0] != "_"}
    found = [
        name
        for name, asked in methods.items()
        if not _takes(inspect.getattr_static(member, name, None), list(inspect.signature(asked).parameters))
    ]
    attributes = {name for name in vars(protocol).get("__annotations__", {}) if name[0] != "_"}
    return found + sorted(attributes - set(typing.get_type_hints(member)) - set(dir(member)))


def _takes(given: Any, names: list[str]) -> bool:
    """Whether it can be called with parameters of these names, in this order, and with no others."""
    if not inspect.isfunction(given):
        return False
    parameters = list(inspect.signature(given).parameters.values())
    more = parameters[len(names) :]
    named = [parameter.name for parameter in parameters[: len(names)]]
    return named == names and all(parameter.default is not parameter.empty for parameter in more)
