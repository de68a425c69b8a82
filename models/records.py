"""The records and the wall between them.

Sensitive types hold what people said and who they are; their `repr` shows nothing, so a stray log line or a Beam error
that prints an element leaks nothing. Safe types are all that a sink, an export or a report accepts.
"""

from __future__ import annotations

from dataclasses import dataclass


class _Sensitive:
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: sensitive>"


class Safe:
    """What a sink, an export or a report accepts. A subclass has no field that could hold the original text, voice,
    speaker or dialogue id."""

    __slots__ = ()


# In place of the file of a canary, which goes through a run to be looked at and is not committed: no file is called so.
CANARY = "\0canary"


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
    channel: int | None = None  # of the speaker, as the record names it


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
    """A named stretch [begin, end) of a text, for language understanding."""

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
    """One sound of a word and when it is said."""

    label: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True, repr=False)
class Word(_Sensitive):
    """One spoken word: its characters [begin, end) in the text and its time in the speech.

    `misfit`: what is said there is perhaps another word (`masked_words.with_misfits` leaves it out).
    """

    begin: int
    end: int
    begin_s: float
    end_s: float
    confidence: float
    phones: tuple[Phone, ...] = ()
    misfit: bool = False


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
    named: bool = True  # False: the corpus gives neither it nor its dialogue an id; file and line stand for one
    replace_always: bool = False  # the speaker's budget is used up: no coin may keep a word


@dataclass(frozen=True, slots=True)
class SpeechSlice(Safe):
    """A few seconds of anonymised, masked speech; `audio` is a FLAC file of `rate_hz`."""

    id: str
    audio: bytes
    text: str
    duration_s: float
    rate_hz: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class TextLine(Safe):
    """One line of the `stt_lm` sink."""

    id: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class SluExample(Safe):
    """One line of the `slu` sink: a text, what is meant, and its slots where they now stand."""

    id: str
    text: str
    intent: str | None
    slots: tuple[Slot, ...]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """One turn of a `DialogueExample`."""

    text: str
    intent: str | None
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class DialogueExample(Safe):
    """The turns of one dialogue in order, under a fresh alias."""

    id: str
    turns: tuple[DialogueTurn, ...]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Failure(Safe):
    """A refused record: a keyed id, the stage, a reason code and where the record stood. Nothing of its content."""

    id: str
    stage: str
    reason: str
    allowed: str
    file: str
    line: int
