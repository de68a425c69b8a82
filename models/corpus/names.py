"""What corpora call the keys that are read here: the job's own map first, then the key itself, then names that are well known.

A key that only looks like one of ours is not read, and is told before the run starts: dialogues whose key is misspelt would be
one turn each, and one conversation could end in two sinks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sottovoce.models.corpus.fields import KEYS
from sottovoce.models.corpus.reasons import LABEL_PATTERN
from sottovoce.models.settings import require

NO_TEXT = "-"  # of a recording that nobody wrote down: refused, or written down by a recogniser (`audio.transcribe`)
AUDIO = "audio"  # a column of embedded audio, in Parquet
# In the order of preference, in lower case with underscores: "dialogueId" and "Dialogue-ID" are read as "dialogue_id".
WELL_KNOWN = {
    "text": (
        "sentence", "transcript", "transcription", "utterance", "raw_text", "raw_transcription", "normalized_text",
        "normalised_text", "query",
    ),
    "audio_filepath": (
        "audio_path", "audio_file", "file_name", "filename", "wav", "wav_path", "wav_file", "file_path", "filepath",
        "path", "file",
    ),
    "speaker_id": ("speaker", "client_id", "spk_id", "spk", "user_id", "worker_id", "speaker_name", "usrid"),
    "dialogue_id": (
        "dialog_id", "conversation_id", "session_id", "call_id", "conv_id", "dialogue", "dialog", "conversation",
    ),
    "turn": ("turn_id", "turn_index", "turn_idx", "turn_number"),
    "id": ("utt_id", "utterance_id", "utt", "uid", "uuid", "segment_id", "example_id"),
    "language": ("lang", "locale"),
    "gender": ("sex",),
    "offset": ("start_time", "begin_time"),
    "intent": ("intent_name", "intent_label"),
}  # fmt: skip
# Who speaks, but not which person: it becomes a speaker of its dialogue.
ROLES = frozenset(
    ("user", "system", "agent", "customer", "bot", "assistant", "caller", "callee", "operator", "client", "wizard")
)
ALIKE = 0.8  # of difflib: "dialouge_id" has 0.91, "dialect" and "dialogue_id" 0.67

_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_glue = re.compile(r"[-.:/ ]+")


@dataclass(frozen=True)
class Naming:
    """`columns`: {our key: the corpus's, or None where the corpus has none}; relative paths begin at `audio_folder`."""

    columns: Mapping[str, str | None] = field(default_factory=dict)
    audio_folder: str | None = None

    def __post_init__(self) -> None:
        unknown = [key for key in self.columns if key not in (*KEYS, AUDIO)]
        require((not unknown, f"columns: {', '.join(unknown)} not known; allowed: {', '.join((*KEYS, AUDIO))}"))

    def sources(self, keys: Iterable[str]) -> dict[str, str]:
        """{our key: under which of `keys` the corpus has it}."""
        return dict(_sources(tuple(self.columns.items()), tuple(keys)))

    def fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row under our keys. A value under a guessed name that cannot be meant is not read; ids are never dropped."""
        found = {}
        for ours, theirs in _sources(tuple(self.columns.items()), tuple(row)):
            value = row[theirs]
            if ours == theirs or ours in self.columns or _may_be(ours, value):
                found[ours] = value
        if self.columns.get("text", "") is None:
            found["text"] = NO_TEXT
        role = found.get("speaker_id")
        if isinstance(role, str) and role.lower() in ROLES:
            dialogue = found.get("dialogue_id")
            found["speaker_id"] = None if dialogue in (None, "") else f"{dialogue}/{role.lower()}"
        path = found.get("audio_filepath")
        if isinstance(path, Mapping):  # {path, array}, as datasets shows audio
            path = found["audio_filepath"] = path.get("path")
        if self.audio_folder and isinstance(path, str) and path and not (path.startswith("/") or "://" in path):
            found["audio_filepath"] = f"{self.audio_folder.rstrip('/')}/{path}"
        return found

    def unread(self, keys: Sequence[str]) -> list[tuple[str, str]]:
        """(key of the corpus, the key of ours that it looks like) of keys that are not read, where ours is nowhere."""
        used = self.sources(keys)
        missing = [key for key in KEYS if key not in used and self.columns.get(key, "") is not None]
        found = ((key, difflib.get_close_matches(_plain(key), missing, 1, ALIKE)) for key in keys)
        return [(key, close[0]) for key, close in found if close and key not in used.values()]


def _may_be(ours: str, value: Any) -> bool:
    if ours in ("language", "gender", "intent"):
        return value is None or (isinstance(value, str) and re.fullmatch(LABEL_PATTERN, value) is not None)
    if ours == "turn":
        return type(value) is int
    if ours == "offset":
        return type(value) in (int, float)
    return ours != "audio_filepath" or isinstance(value, str | Mapping)


def _plain(key: str) -> str:
    return _glue.sub("_", _hump.sub("_", key)).lower()


@lru_cache(maxsize=1024)
def _sources(columns: tuple[tuple[str, str | None], ...], keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    chosen = dict(columns)
    plain: dict[str, str] = {}
    for key in keys:
        plain.setdefault(_plain(key), key)
    found = []
    for ours in KEYS:
        wanted: Iterable[str] = (ours, *WELL_KNOWN.get(ours, ()))
        if ours in chosen:
            theirs = chosen[ours] if chosen[ours] in keys else None
        else:
            theirs = ours if ours in keys else next((plain[name] for name in wanted if name in plain), None)
        if theirs is not None:
            found.append((ours, theirs))
    if "audio_filepath" not in dict(found) and "audio_filepath" not in chosen and AUDIO in keys:
        found.append(("audio_filepath", AUDIO))
    return tuple(found)
