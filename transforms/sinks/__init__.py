"""Where a dialogue can go. A sink is a PTransform from batches of Utterances to batches of Rows of one safe type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sottovoce.models.settings import resolve

if TYPE_CHECKING:  # the command line lists the sinks without waiting for Beam
    from sottovoce.transforms.stage import Outputs

TABLE = {
    "stt_am": "sottovoce.transforms.sinks.stt_am:SpeechSink",
    "stt_lm": "sottovoce.transforms.sinks.stt_lm:TextSink",
    "slu": "sottovoce.transforms.sinks.slu:SluSink",
    "dm": "sottovoce.transforms.sinks.dm:DialogueSink",
}


class Sink(Protocol):
    record_type: type  # the safe type of its rows
    needs_audio: bool  # left out of text-only corpora
    rows_per_shard: int
    stages: str  # for people: what happens between route and write

    def expand(self, batches: Any) -> Outputs: ...

    # Optional: `assemble(rows) -> rows`, for a sink whose record is made of several rows under one id.


def sink_class(name: str) -> type:
    return resolve(TABLE[name])
