"""The records and the wall between them.

Sensitive types hold what people said and who they are; their `repr` shows nothing, so a stray log line or a Beam error
that prints an element leaks nothing. Safe types are all that a sink, an export or a report accepts: they have no field
that could hold the original text, voice, speaker or dialogue id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class _Sensitive:
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: sensitive>"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record came from, in words that may be published: no path is kept that the operator did not type."""

    file: str
    line: int


@dataclass(frozen=True, slots=True, repr=False)
class AudioRef(_Sensitive):
    """Audio by reference. `row` and `column` address audio embedded in a Parquet file (row counted over the file)."""

    uri: str
    begin_s: float | None = None
    end_s: float | None = None
    duration_s: float | None = None  # as the manifest claims it
    row: int | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A sensitive stretch [begin, end) of characters of `Utterance.text`."""

    begin: int
    end: int
    type: str
    score: float = 1.0
    detector: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    begin: int
    end: int
    name: str


@dataclass(frozen=True, slots=True, repr=False)
class Edit(_Sensitive):
    """Replace characters [begin, end) of the original text by `replacement`."""

    begin: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True, repr=False)
class Phone(_Sensitive):
    label: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True, repr=False)
class Word(_Sensitive):
    """One spoken word: its characters [begin, end) in the text and its time in the speech."""

    begin: int
    end: int
    begin_s: float
    end_s: float
    confidence: float
    phones: tuple[Phone, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Utterance(_Sensitive):
    """One turn as it came in, plus the spans that detection adds. All offsets refer to `text`, which never changes."""

    id: str
    dialogue_id: str
    turn: int
    text: str
    source: Source
    speaker_id: str | None = None
    gender: str | None = None
    language: str | None = None
    intent: str | None = None
    slots: tuple[Slot, ...] = ()
    audio: AudioRef | None = None
    spans: tuple[Span, ...] = ()
    replace_always: bool = False  # the speaker's budget is used up: no coin may keep a word


@dataclass(frozen=True, slots=True)
class SpeechSlice:
    """A few seconds of anonymised, masked speech; `audio` is a FLAC file of `rate_hz`."""

    id: str
    audio: bytes
    text: str
    duration_s: float
    rate_hz: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class TextLine:
    id: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class SluExample:
    id: str
    text: str
    intent: str | None
    slots: tuple[Slot, ...]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    text: str
    intent: str | None
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class DialogueExample:
    """The turns of one dialogue in order, under a fresh alias.

    `missing_turns` counts the turn numbers that are absent between the first and the last one, as refusals leave them.
    """

    id: str
    turns: tuple[DialogueTurn, ...]
    missing_turns: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A refused record: a keyed id, the stage, a reason code and where the record stood. Nothing of its content."""

    id: str
    stage: str
    reason: str
    allowed: str
    file: str
    line: int


SAFE_TYPES = (SpeechSlice, TextLine, SluExample, DialogueExample, Failure)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What one mechanism of a run gives, and what it does not. Written to `ledger.json` and the report.

    `paper` and `sound` are figures by unit, such as {"unit": 0.18, "utterance": inf}; None where the mechanism has no
    differential-privacy guarantee at all, and `says` then tells in plain words what it does instead. A mechanism with
    an infinite figure says why in `infinite_because`.
    """

    stage: str
    mechanism: str
    says: str
    not_protected: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    adjacency: str | None = None
    assumptions: tuple[str, ...] = ()
    paper: dict[str, float] | None = None
    sound: dict[str, float] | None = None
    infinite_because: str | None = None
