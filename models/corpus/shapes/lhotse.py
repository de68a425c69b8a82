"""Lhotse's cuts, each with the recording it is cut from, and its supervisions alone, which are text.

A supervision is an utterance; all of one recording are one dialogue. A source that is a command is refused and never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus.reasons import AudioIsCommand, AudioPathMalformed

_CUT = frozenset({"supervisions", "recording"})


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """One record for each supervision, its offset in seconds of the recording. AudioPathMalformed where no file is named."""
    if not row.keys() >= _CUT:
        yield _said(row) | {"dialogue_id": row["recording_id"]}
        return
    recording, begin_s = row["recording"], row.get("start") or 0.0
    if not isinstance(recording, Mapping) or not isinstance(row["supervisions"], list):
        raise AudioPathMalformed
    for supervision in row["supervisions"]:
        yield _said(supervision) | {
            "dialogue_id": recording.get("id"),
            "audio_filepath": _path(recording, supervision.get("channel")),
            "offset": begin_s + (supervision.get("start") or 0.0),
            "duration": supervision.get("duration"),
            "channel": _channel(supervision.get("channel")),
        }


def _said(supervision: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("id", "text", "language", "gender", "speaker")
    return {key: supervision.get(key) for key in kept}


def _channel(channel: Any) -> Any:
    return channel[0] if isinstance(channel, list) and len(channel) == 1 else channel


def _path(recording: Mapping[str, Any], channel: Any) -> str:
    """The file that holds the channel; without a channel, the only file."""
    sources = recording.get("sources") or []
    own = [source for source in sources if _channel(channel) in (source.get("channels") or [])] or sources
    if not own:
        raise AudioPathMalformed
    if own[0].get("type") == "command":
        raise AudioIsCommand
    return own[0].get("source")
