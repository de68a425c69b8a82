"""One checked Utterance from the fields of a record, whatever format they were written in.

Labels (intent, slot names, language, gender) are published as they are, so they must look like labels: a sentence that
someone put there would pass every detector by.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.reasons import (
    LABEL_PATTERN,
    MAX_CHARACTERS,
    MAX_ID_CHARACTERS,
    MAX_WORDS,
    AudioPathMalformed,
    DurationNotPositive,
    IdMalformed,
    KeysMissing,
    LabelMalformed,
    NotUtf8,
    OffsetNegative,
    SlotsMalformed,
    SlotsOutsideText,
    SlotsOverlap,
    TextEmpty,
    TextMalformed,
    TextMissing,
    TextTooLong,
    TurnNotWhole,
)
from sottovoce.models.errors import Refusal
from sottovoce.models.records import AudioRef, Slot, Source, Utterance

KEYS = (
    "id", "dialogue_id", "turn", "speaker_id", "gender", "language", "intent", "slots", "text",
    "audio_filepath", "offset", "duration", "channel",
)  # fmt: skip
MAX_SECONDS = 1e9
MAX_CHANNELS = 1024
CHANNELS = {"left": 0, "right": 1, "a": 0, "b": 1} | {str(number): number for number in range(MAX_CHANNELS)}
Made = TypeVar("Made")

_label = re.compile(LABEL_PATTERN).fullmatch
_surrogate = re.compile("[\ud800-\udfff]").search
_control = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]").search  # tab and line ends may stand in a text


def attempt(file: CorpusFile, line: int, make: Callable[..., Made], *arguments: Any) -> Made | Refused:
    """What `make` gives, or why it does not. An error nobody foresaw is caught too: its message would quote content."""
    try:
        return make(*arguments)
    except Exception as error:  # noqa: BLE001
        claimed = error.claimed if isinstance(error, Refusal) else ()
        return Refused(Source(file.label, line), error, file.place(line), *claimed)


def utterance(
    fields: Mapping[str, Any], file: CorpusFile, line: int, audio: AudioRef | None = None, by_place: bool = False
) -> Utterance:
    """`audio` is given where the format keeps it in another way than as a path in `audio_filepath`; `by_place` where the
    dialogue's id is only the place where it begins."""
    try:
        return _checked(fields, file, line, audio, by_place)
    except Refusal as refusal:
        refusal.claimed = _readable_id(fields.get("speaker_id")), _readable_id(fields.get("dialogue_id"))
        raise


def _readable_id(value: Any) -> str | None:
    try:
        return identifier(value)
    except Refusal:
        return None


def _checked(
    fields: Mapping[str, Any], file: CorpusFile, line: int, audio: AudioRef | None, by_place: bool
) -> Utterance:
    path = fields.get("audio_filepath")
    text = _text(fields.get("text"), has_audio=audio is not None or path is not None)
    if audio is None and path is not None:
        audio = audio_reference(audio_uri(path, file), fields)
    turn = _turn(fields.get("turn"))
    own_id = identifier(fields.get("id"))
    dialogue_id = identifier(fields.get("dialogue_id")) or own_id  # a record that names itself is a dialogue of its own
    named = dialogue_id is not None and not by_place
    dialogue_id = dialogue_id or file.place(line)
    if own_id is None:
        own_id = file.place(line) if turn is None else f"{dialogue_id}/{turn}"
    return Utterance(
        id=own_id,
        dialogue_id=dialogue_id,
        turn=line if turn is None else turn,  # the order of the lines is then the order of the turns
        text=text,
        source=Source(file.label, line),
        speaker_id=identifier(fields.get("speaker_id")),
        gender=label(fields.get("gender")),
        language=label(fields.get("language")),
        intent=label(fields.get("intent")),
        slots=_slots(fields.get("slots"), text),
        audio=audio,
        named=named,
    )


def _text(value: Any, *, has_audio: bool) -> str:
    if value is None:
        raise TextMissing if has_audio else KeysMissing
    if not isinstance(value, str):
        raise TextMalformed
    if len(value) > MAX_CHARACTERS or (len(value) > MAX_WORDS and len(value.split()) > MAX_WORDS):
        raise TextTooLong
    if not value.strip():
        raise TextEmpty
    if _surrogate(value):
        raise NotUtf8
    if _control(value):
        raise TextMalformed
    return value


def identifier(value: Any) -> str | None:
    """Ids are kept as they are, control characters and all: they are only ever hashed."""
    if value is None or value == "":
        return None
    if type(value) is int and abs(value) < 1 << 127:
        value = str(value)
    if not isinstance(value, str) or len(value) > MAX_ID_CHARACTERS:
        raise IdMalformed
    if _surrogate(value):
        raise NotUtf8
    return value


def label(value: Any) -> str | None:
    """None for an empty one; LabelMalformed unless it is a name without blanks (LABEL_PATTERN)."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not _label(value):
        raise LabelMalformed
    return value


def _turn(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is float and value.is_integer():  # columns with gaps are written as 3.0 by many tools
        value = int(value)
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise TurnNotWhole
    return value


def _slots(value: Any, text: str) -> tuple[Slot, ...]:
    if not value and (value is None or isinstance(value, list)):
        return ()
    if not isinstance(value, list):
        raise SlotsMalformed
    slots = sorted((_slot(item, len(text)) for item in value), key=lambda slot: slot.begin)
    for left, right in itertools.pairwise(slots):
        if right.begin < left.end:
            raise SlotsOverlap
    return tuple(slots)


def _slot(item: Any, length: int) -> Slot:
    if not isinstance(item, Mapping):
        raise SlotsMalformed
    begin, end, name = item.get("begin"), item.get("end"), item.get("name")
    if type(begin) is not int or type(end) is not int or name is None:
        raise SlotsMalformed
    if not 0 <= begin < end <= length:
        raise SlotsOutsideText
    checked = label(name)
    if checked is None:
        raise LabelMalformed
    return Slot(begin, end, checked)


def audio_reference(uri: str, fields: Mapping[str, Any], row: int | None = None, column: str | None = None) -> AudioRef:
    """A whole recording, or from `offset` on for `duration` (NeMo's meaning). The file itself is not looked at."""
    begin_s = _seconds(fields.get("offset"), OffsetNegative)
    length_s = _seconds(fields.get("duration"), DurationNotPositive)
    if length_s == 0:
        raise DurationNotPositive
    end_s = None if begin_s is None or length_s is None else begin_s + length_s
    return AudioRef(uri, begin_s, end_s, length_s, row, column, _channel(fields.get("channel")))


def _channel(value: Any) -> int | None:
    """Many corpora mean something else by this key ("telephone"): what names no channel says nothing, and is no fault."""
    if isinstance(value, str):
        return CHANNELS.get(value.strip().lower())
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < MAX_CHANNELS else None


def audio_uri(path: Any, file: CorpusFile) -> str:
    """Relative paths are relative to the file that names them."""
    if not isinstance(path, str) or not path.strip() or "\0" in path or _surrogate(path):
        raise AudioPathMalformed
    return path if path.startswith("/") or "://" in path else f"{file.uri.rpartition('/')[0]}/{path}"


def _seconds(value: Any, refusal: type[Exception]) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < MAX_SECONDS:  # false for NaN too
        raise refusal
    return float(value)
