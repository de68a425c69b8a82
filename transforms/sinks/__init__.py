"""Where a dialogue can go: one file and one row for each sink (`sink.py` says what a sink is)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.models.settings import resolve
from sottovoce.models.text.rewrite import NONE

if TYPE_CHECKING:  # the command line lists the sinks without waiting for Beam
    from sottovoce.transforms.sinks.sink import Sink

TABLE = {
    "stt_am": "sottovoce.transforms.sinks.stt_am:SpeechSink",
    "stt_lm": "sottovoce.transforms.sinks.stt_lm:TextSink",
    "slu": "sottovoce.transforms.sinks.slu:SluSink",
    "dm": "sottovoce.transforms.sinks.dm:DialogueSink",
}


def sink_class(name: str) -> type[Sink]:
    """The class of a sink that the table has."""
    return resolve(TABLE[name])


def stages_of(name: str, rewriter: str) -> tuple[str, ...]:
    """What happens between route and write, in order, where texts are rewritten by this member (none: replaced)."""
    stages = sink_class(name).stages
    return stages if rewriter == NONE else tuple("rewrite" if stage == "replace" else stage for stage in stages)
