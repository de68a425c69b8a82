"""Records that are built differently from ours: a table of what known corpora look like, one file and one row for each.

A row says by which keys records of the kind are known, and where the function stands that gives mappings under the keys of a
manifest (docs/input.md): `rows(row, name)`, `name` being the row's own key where a document is a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.names import Naming
from sottovoce.models.records import AudioRef, Utterance
from sottovoce.models.settings import resolve

# name: (where it is, the keys that tell; of alternatives, which a bar parts, one must be there)
TABLE = {
    "lhotse": ("sottovoce.models.corpus.shapes.lhotse:rows", ("supervisions", "recording")),
    "lhotse_text": ("sottovoce.models.corpus.shapes.lhotse:rows", ("recording_id", "start", "duration", "text")),
    "slurp": ("sottovoce.models.corpus.shapes.slurp:rows", ("slurp_id", "sentence_annotation")),
    "sgd": ("sottovoce.models.corpus.shapes.sgd:rows", ("dialogue_id", "turns")),
    "multiwoz": ("sottovoce.models.corpus.shapes.multiwoz:rows", ("goal", "log")),
    "snips": ("sottovoce.models.corpus.shapes.snips:rows", ("data",)),
    "tags": ("sottovoce.models.corpus.shapes.tags:rows", ("tokens|words", "tags|ner_tags|slot_tags|bio_tags")),
    "common_voice": ("sottovoce.models.corpus.shapes.common_voice:rows", ("client_id", "path", "sentence")),
}
RECORDINGS = "recordings"  # files in which one sentence is read out

Rows = Callable[[Mapping[str, Any], str | None], Iterator[Mapping[str, Any]]]


def shape_of(keys: Iterable[str]) -> Rows | None:
    """How rows with these keys are read; None where they are records already."""
    return _shape_of(tuple(keys))


@lru_cache(maxsize=1024)
def _shape_of(keys: tuple[str, ...]) -> Rows | None:
    for place, wanted in TABLE.values():
        if all(any(name in keys for name in names.split("|")) for names in wanted):
            return resolve(place)
    return None


def all_keys() -> frozenset[str]:
    """Every key by which a shape is known, and the one that its recordings stand under."""
    known = {name for _, wanted in TABLE.values() for names in wanted for name in names.split("|")}
    return frozenset({*known, RECORDINGS})


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
