"""From a row, as a format gives it, to utterances: the corpus's own shape, its own names, then the checks of every record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.shapes import shape_of
from sottovoce.models.corpus.shapes.slurp import RECORDINGS
from sottovoce.models.records import AudioRef, Utterance


def utterances(
    row: Mapping[str, Any],
    file: CorpusFile,
    number: int,
    naming: Naming,
    name: str | None = None,
    audio: AudioRef | None = None,
) -> Iterator[Utterance | Refused]:
    """One utterance of most rows; `audio` is given where the format embeds it."""
    shape = shape_of(row)
    if shape is None:
        yield attempt(file, number, lambda: utterance(naming.fields(row), file, number, audio))
        return
    parts = attempt(file, number, lambda: [read for part in shape(row, name) for read in _recorded(part, naming)])
    if isinstance(parts, Refused):
        yield parts
        return
    for part in parts:
        yield attempt(file, number, lambda part=part: utterance(naming.fields(part), file, number, audio))


def _recorded(part: Mapping[str, Any], naming: Naming) -> Iterator[Mapping[str, Any]]:
    """A sentence that several people read out is one utterance for each, where the job says in which folder they lie."""
    recordings = part.get(RECORDINGS) or []
    if not recordings or naming.audio_folder is None:
        yield part
        return
    for recording in recordings:
        yield {**part, "id": f"{part['id']} {recording['file']}", "audio_filepath": recording["file"]}
