"""Settings from plain mappings: frozen dataclasses, checked against their annotations, every problem reported at once.

A table member is a dataclass whose fields are its options; `__post_init__` may raise SettingsError for values out of
range. Nothing heavy may happen there: models load in `setup()`, on the worker.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.models.errors import SettingsError

# Where the table of each family stands: a job names the family, and the folder says what it belongs to.
TABLES = {
    "corpus": "sottovoce.models.corpus",
    "detect": "sottovoce.models.text.detect",
    "replace": "sottovoce.models.text.replace",
    "rewrite": "sottovoce.models.text.rewrite",
    "align": "sottovoce.models.speech.align",
    "voice": "sottovoce.models.speech.voice",
    "mask": "sottovoce.models.speech.mask",
    "relisten": "sottovoce.models.speech.recognise",
    "speakers": "sottovoce.models.speech.speakers",
    "learners": "sottovoce.models.evaluation.learners",
    "training": "sottovoce.models.training",
    "tasks": "sottovoce.models.training.tasks",
    "export": "sottovoce.models.export",
    "launch": "sottovoce.models.launch",
}
FAMILIES = ("detect", "replace", "rewrite", "align", "voice", "mask", "relisten")  # the mechanisms that a job chooses


@dataclass(frozen=True)
class Spec:
    """A member of a family by name, with its options: what travels to the worker, where `make` builds the object."""

    family: str
    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def make(self) -> Any:
        """The member, built. SettingsError that names every option that is unknown, missing or of the wrong kind."""
        return build(member_class(self.family, self.name), dict(self.options), f"{self.family}.{self.name}")


class HoldsMembers:
    """Inherited by a member that is made of others of its family: its option `holds` lists them, as a job file would."""

    holds: ClassVar[str]


def table(family: str) -> dict[str, str]:
    """The rows of a family: {name: "module:Class"}."""
    return importlib.import_module(TABLES[family]).TABLE


def resolve(path: str) -> Any:
    """'package.module:Name' -> the object. Import strings keep start-up light and work on a worker that imported nothing."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def member_class(family: str, name: str) -> type:
    """The class that a name stands for; an error that tells the allowed names, where it stands for none."""
    rows = table(family)
    if name not in rows:
        raise SettingsError(
            [f"{family}.use: {name!r} is not known; allowed: {', '.join(rows)}{_suggestion(name, rows)}"]
        )
    return resolve(rows[name])


def read_spec(family: str, value: Any) -> Spec:
    """'typed', 'hf:path' or {'use': 'typed', option: value ...} -> a checked Spec."""
    if isinstance(value, str):
        value = {"use": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("use"), str):
        raise SettingsError([f"{family}: expected a name or a mapping with 'use'; allowed: {', '.join(table(family))}"])
    options = {key: option for key, option in value.items() if key != "use"}
    name, colon, model = value["use"].partition(":")
    if colon:  # "hf:<hub name or path>" is short for use: hf, model: <hub name or path>
        options.setdefault("model", model)
    spec = Spec(family, name, tuple(sorted(options.items())))
    spec.make()
    return spec


def languages_of(spec: Spec) -> frozenset[str] | None:
    """The languages that a member knows, as the row of its family's LANGUAGES says; None: it does not depend on one.

    Of members that hold others (an ensemble), a language is known where one of them knows it.
    """
    known: dict[str, Iterable[str]] = importlib.import_module(TABLES[spec.family]).LANGUAGES
    made_of = member_class(spec.family, spec.name)
    if issubclass(made_of, HoldsMembers) and (held := dict(spec.options).get(made_of.holds)):
        each = [languages_of(read_spec(spec.family, member)) for member in held]
        return None if None in each else frozenset().union(*(one for one in each if one is not None))
    return frozenset(known[spec.name]) if spec.name in known else None


def common_languages(specs: Iterable[Spec]) -> frozenset[str] | None:
    """What all of the members know; None: any language."""
    limited = [known for known in map(languages_of, specs) if known is not None]
    return frozenset.intersection(*limited) if limited else None


def language_limits(specs: Iterable[Spec]) -> str:
    """Which of the members depend on a language, and what they know: "relisten: pocketsphinx (en)"."""
    limited = ((spec, languages_of(spec)) for spec in specs)
    return ", ".join(
        f"{spec.family}: {spec.name} ({' '.join(sorted(known))})" for spec, known in limited if known is not None
    )


def option_names(family: str, name: str) -> tuple[str, ...]:
    """The options that a member takes: its fields."""
    return tuple(f.name for f in dataclasses.fields(member_class(family, name)) if f.init)


def with_defaults(spec: Spec) -> dict[str, Any]:
    """The member and all its options, those that nobody gave too, also of members that it holds (an ensemble)."""
    member = spec.make()
    options = {name: getattr(member, name) for name in option_names(spec.family, spec.name)}
    if isinstance(member, HoldsMembers):
        options[member.holds] = [with_defaults(read_spec(spec.family, one)) for one in options[member.holds]]
    return {"use": spec.name} | options


def build(cls: type, values: Mapping[str, Any], where: str) -> Any:
    """An instance of dataclass `cls`, or a SettingsError with every unknown key, missing key and bad value."""
    problems: list[str] = []
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    accepted: dict[str, Any] = {}
    for key, value in values.items():
        if key not in fields:
            allowed = ", ".join(fields) or "none"
            problems.append(f"{where}.{key}: unknown key; allowed: {allowed}{_suggestion(str(key), fields)}")
            continue
        try:
            accepted[key] = _coerce(value, hints[key])
        except (TypeError, ValueError):
            problems.append(f"{where}.{key}: {value!r} is not {_describe(hints[key])}")
    for name, f in fields.items():
        required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if required and name not in values:
            problems.append(f"{where}.{name}: missing; expected {_describe(hints[name])}")
    if problems:
        raise SettingsError(problems)
    try:
        return cls(**accepted)
    except SettingsError as error:
        raise SettingsError([f"{where}.{problem}" for problem in error.problems]) from None


def require(*checks: tuple[bool, str]) -> None:
    """For `__post_init__`: `require((0 <= self.p <= 1, "p: must lie in [0, 1]"))`."""
    problems = [message for holds, message in checks if not holds]
    if problems:
        raise SettingsError(problems)


def _coerce(value: Any, hint: Any) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        for option in args:
            try:
                return _coerce(value, option)
            except (TypeError, ValueError):
                continue
        raise ValueError
    if origin is typing.Literal:
        if value not in args:
            raise ValueError
        return value
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_coerce(item, args[0]) for item in value)
    if origin is dict and isinstance(value, Mapping):
        return {_coerce(k, args[0]): _coerce(v, args[1]) for k, v in value.items()}
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is type(None) and value is None:
        return None
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise TypeError


def _describe(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(repr, args))
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_describe(option) for option in args)
    if origin is tuple:
        return f"a list of {_describe(args[0])}"
    if origin is dict:
        return f"a mapping of {_describe(args[0])} to {_describe(args[1])}"
    names = {str: "text", float: "a number", int: "a whole number", bool: "true or false", type(None): "null"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))


def _suggestion(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
