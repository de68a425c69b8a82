"""A job is one YAML file over the defaults. Every unknown key and bad value is reported at once, before anything starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

import yaml

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.settings import FAMILIES, Spec, build, member_class, read_spec, require, with_defaults
from sottovoce.models.speech.chain import masks_first
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.speech.voice import SpeaksFromPhones
from sottovoce.models.text.detect.labelled_slots import SlotSettings
from sottovoce.models.text.replace import CountsCorpus
from sottovoce.pipelines.observe.observing import ObserveSettings
from sottovoce.pipelines.yaml_settings import read_assignment, read_mapping
from sottovoce.transforms import sinks
from sottovoce.transforms.engine.job import AudioSettings, InputSettings


@dataclass(frozen=True)
class OutputSettings:
    """`output` of a job: into how many files a sink is written, and under which licence."""

    shards: int | None = None
    licence: str | None = None  # of the data that is released, for its card

    def __post_init__(self) -> None:
        require((self.shards is None or self.shards >= 1, "shards: must be at least 1, or null"))


@dataclass(frozen=True)
class AboutSettings:
    """How readers of the report shall know the corpus, and who answers for it: nothing else tells them."""

    corpus: str | None = None
    operator: str | None = None


@dataclass(frozen=True)
class LimitSettings:
    """`limits` of a job: how much may be refused before the run is; a share, a number, or null for any."""

    max_failures: int | float | None = 0.5
    all_refused: bool = False  # whether a run of which nothing is left is committed all the same

    def __post_init__(self) -> None:
        limit = self.max_failures
        share = isinstance(limit, float) and not 0 <= limit <= 1
        require(
            (not share, f"max_failures: {limit} must be a share from 0.0 to 1.0, or a whole number"),
            (limit is None or limit >= 0, f"max_failures: {limit} must not be negative"),
        )


@dataclass(frozen=True)
class NightlySettings:
    """What `sottovoce nightly` needs beside the job; flags of the command win."""

    input: str | None = None
    output: str | None = None
    secret_file: str | None = None
    keep_runs: int = 30
    speaker_epsilon: float | None = None
    beyond_budget: Literal["withhold", "replace_always"] = "withhold"

    def __post_init__(self) -> None:
        require(
            (self.keep_runs >= 1, "keep_runs: must be at least 1"),
            (self.speaker_epsilon is None or self.speaker_epsilon >= 0, "speaker_epsilon: must not be negative"),
        )


SECTIONS: dict[str, type] = {
    "nightly": NightlySettings,
    "input": InputSettings,
    "slice": Slicer,
    "audio": AudioSettings,
    "output": OutputSettings,
    "about": AboutSettings,
    "limits": LimitSettings,
    "audit": AuditSettings,
    "observe": ObserveSettings,
}

UNCHANGING = ("about", "nightly", "limits", "forget", "audit", "observe")  # no record depends on them

# What belongs to a family and not to one of its members: it stays as it is when another member is named.
SHARED: dict[str, type] = {"detect": SlotSettings}


@dataclass(frozen=True)
class JobFile:
    """The checked job. `resolved` is the plain mapping that it was checked as; it holds no secret."""

    resolved: dict[str, Any]
    sections: dict[str, Any]
    sinks: dict[str, float]
    specs: dict[str, Spec]

    @property
    def identity(self) -> dict[str, Any]:
        """What makes two runs the same one: all that changes a record. Where a night keeps its things does not.

        A member has all its options in it, defaults too: a version with other defaults makes other records, and a second
        release under the first one's name would not be charged.
        """
        said = {key: value for key, value in self.resolved.items() if key not in UNCHANGING}
        return said | {"members": {family: with_defaults(spec) for family, spec in self.specs.items()}}

    @property
    def members(self) -> dict[str, Any]:
        """The member of each family, as keywords of a Job."""
        return dict(self.specs)

    def said_of_shares(self) -> str | None:
        """In words, where the shares that were given are not what each sink gets."""
        total = sum(self.sinks.values())
        if abs(total - 1) < 1e-3:  # thirds are written with a few digits
            return None
        parts = ", ".join(f"{name} {share / total:.0%}" for name, share in self.sinks.items())
        if len(set(self.sinks.values())) == 1:  # `--sinks slu dm` names no shares
            return f"sinks: of the dialogues get: {parts}"
        return f"sinks: the shares sum to {total:g}, so that of the dialogues get: {parts}"

    @property
    def forget(self) -> bool:
        """Whether the run keeps the private index by which a person's records are found again."""
        return self.resolved["forget"]


def read_job(
    path: str | None, assignments: Sequence[str] = (), given: Mapping[str, Any] = MappingProxyType({})
) -> JobFile:
    """The defaults, changed by the file at `path`, then by `given`, then by assignments such as slice.min_seconds=2."""
    values = yaml.safe_load(resources.files("sottovoce.pipelines.sanitize").joinpath("default_job.yaml").read_text())
    problems: list[str] = []
    known = tuple(values)
    # Whoever names a member and gives it options means both, in whatever order they stand: its name comes first.
    ordered = sorted(assignments, key=lambda text: text.partition("=")[0] not in FAMILIES)
    changes = [
        ("", read_mapping(path, "--config") if path else {}),
        ("", given),
        *((text, _read_change(text, problems)) for text in ordered),
    ]
    named = False
    for assignment, change in changes:
        # Who gives a mapping of sinks, or gives one a share on the command line, names all of them: the others get nothing.
        if "sinks" in change and (not assignment.startswith("sinks.") or (not named and _gives_share(change["sinks"]))):
            values["sinks"], named = {}, bool(assignment)
        _merge(values, change, known, problems)
    sections = {name: _collect(problems, build, cls, values[name] or {}, name) for name, cls in SECTIONS.items()}
    specs = {}
    for family in FAMILIES:
        shared, own = _parted(family, values[family])
        specs[family] = _collect(problems, read_spec, family, own)
        if family in SHARED:
            sections[family] = _collect(problems, build, SHARED[family], shared, family)
    shares = _read_sinks(values["sinks"], problems)
    if not isinstance(values["forget"], bool):
        problems.append(f"forget: {values['forget']!r} is not known; allowed: on, off")
    if not problems and masks_first(specs["mask"]):
        problems += _not_sayable(specs, sections["audio"])
    if problems:
        raise SettingsError(problems)
    return JobFile(values, sections, shares, specs)


def _not_sayable(specs: Mapping[str, Spec], audio: AudioSettings) -> list[str]:
    """Why surrogates cannot be said: who draws them, and who says them, must be able to."""
    mask, voice, strategy = specs["mask"].name, specs["voice"].name, specs["replace"].make()
    problems = []
    if not issubclass(member_class("voice", voice), SpeaksFromPhones):
        problems.append(
            f"mask: {mask} needs a voice that speaks from phones, and voice: {voice} does not; allowed: phonetic"
        )
    if not isinstance(strategy, CountsCorpus):
        named = specs["replace"].name
        problems.append(
            f"mask: {mask} says what `replace` draws, and replace: {named} draws nothing; allowed: full, word, consistent"
        )
    elif strategy.counting is not None:
        problems.append(f"mask: {mask} draws from public lists; replace.values: must be public")
    if audio.align_on != "original":
        problems.append(f"mask: {mask} comes before the voice; audio.align_on: must be original")
    return problems


def _gives_share(sinks: Any) -> bool:
    return isinstance(sinks, Mapping) and any(sinks.values())


def sinks_assignment(named: Sequence[str]) -> str:
    """What `--sinks slu dm=0.5` says, as an assignment: a sink without a share has one part."""
    shares = [name.partition("=") for name in named]
    return f"sinks={{{', '.join(f'{name}: {share or 1}' for name, _, share in shares)}}}"


def _read_change(assignment: str, problems: list[str]) -> dict[str, Any]:
    """'slice.min_seconds=2' -> {'slice': {'min_seconds': 2}}."""
    try:
        keys, value = read_assignment(assignment)
    except SettingsError as error:
        problems += error.problems
        return {}
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _merge(into: dict[str, Any], values: Mapping[str, Any], known: Sequence[str], problems: list[str]) -> None:
    for key, value in values.items():
        if key not in known:
            problems.append(f"{key}: unknown key; allowed: {', '.join(known)}")
        elif key in FAMILIES:
            into[key] = _merge_spec(key, into[key], value)
        elif isinstance(into[key], dict) and isinstance(value, Mapping):
            into[key] = into[key] | dict(value)
        else:
            into[key] = value


def _merge_spec(family: str, old: Any, new: Any) -> Any:
    """Options of the same member add up (`--set mask.guard_ms=80`); another member starts from its own defaults."""
    if isinstance(new, Mapping) and "use" not in new:
        old = {"use": old} if isinstance(old, str) else dict(old)
        return old | dict(new)
    shared, _ = _parted(family, old)
    if shared and isinstance(new, str | Mapping):
        return shared | ({"use": new} if isinstance(new, str) else dict(new))
    return new


def _parted(family: str, value: Any) -> tuple[dict[str, Any], Any]:
    """(options that the family shares, what is the member's own)"""
    if family not in SHARED or not isinstance(value, Mapping):
        return {}, value
    names = {field.name for field in dataclasses.fields(SHARED[family])}
    shared = {key: option for key, option in value.items() if key in names}
    return shared, {key: option for key, option in value.items() if key not in names}


def _read_sinks(values: Any, problems: list[str]) -> dict[str, float]:
    if not isinstance(values, Mapping):
        problems.append(f"sinks: expected a mapping of sinks to shares; allowed: {', '.join(sinks.TABLE)}")
        return {}
    for name, share in values.items():
        if name not in sinks.TABLE:
            problems.append(f"sinks.{name}: unknown sink; allowed: {', '.join(sinks.TABLE)}")
        elif isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < float("inf"):
            problems.append(f"sinks.{name}: {share!r} is not a number of at least 0")
    if not problems and not sum(values.values()) > 0:
        problems.append("sinks: at least one share must be above 0")
    return {} if problems else {name: float(values[name]) for name in sinks.TABLE if values.get(name)}


def _collect(problems: list[str], function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except SettingsError as error:
        problems.extend(error.problems)
        return None
