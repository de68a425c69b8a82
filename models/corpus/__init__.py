"""Read corpora: find the pieces of each file quickly, then turn each piece into records.

A reader never opens audio and never holds a file: `scan` names small chunks, `parse` reads one of them. What a chunk
gives depends on the input alone, so every run and every runner sees the same batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Protocol

from sottovoce.models.records import Source, Utterance

TABLE = {
    "jsonl": "sottovoce.models.corpus.jsonl:Jsonl",
    "kaldi": "sottovoce.models.corpus.kaldi:Kaldi",
    "parquet": "sottovoce.models.corpus.parquet:Parquet",
    "conll": "sottovoce.models.corpus.conll:Conll",
    "csv": "sottovoce.models.corpus.csv_table:CsvTable",
    "json": "sottovoce.models.corpus.json_document:JsonDocument",
    "audio": "sottovoce.models.corpus.audio_folder:AudioFolder",
}

RECORDS_PER_BATCH = 128
CHUNK_BYTES = 1 << 20

OpenFile = Callable[[str], BinaryIO]


@dataclass(frozen=True, slots=True, repr=False)
class CorpusFile:
    """One file. `name` (relative to the input) makes derived ids; only `label` may be published."""

    uri: str
    name: str
    label: str
    size: int

    def __repr__(self) -> str:
        return f"<CorpusFile: {self.label}>"

    def place(self, line: int) -> str:
        """Names one line for good: more files beside this one next night do not change it."""
        return f"{self.name}:{line}"


@dataclass(frozen=True, slots=True, repr=False)
class Chunk:
    """A piece of a file: bytes [begin, end), or rows of a row group; `first` is the number of its first line or row."""

    file: CorpusFile
    begin: int
    end: int
    first: int
    group: int = 0
    dialogue: str | None = None  # of a format whose records do not each name their dialogue
    turn: int = 0
    by_place: bool = False  # the dialogue's id is only the place where it begins

    def __repr__(self) -> str:
        return f"<Chunk: {self.file.label}, from {self.first}>"


@dataclass(frozen=True, slots=True, repr=False)
class Refused:
    """A record that was turned away. `key` (never published) is what the failure's keyed id is made of; the speaker and
    the dialogue are those that it names, if it could be read so far."""

    source: Source
    error: BaseException
    key: str
    speaker_id: str | None = None
    dialogue_id: str | None = None

    def __repr__(self) -> str:
        return f"<Refused: {self.source}>"


class Reader(Protocol):
    """`scan` and `parse` are plain generators: a loop over them reads a corpus without Beam."""

    patterns: ClassVar[tuple[str, ...]]  # what files of this format are called

    @property
    def records_per_batch(self) -> int:
        """After how many records a batch is handed on, so that batches are the same on every runner."""

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk | Refused]:
        """Cut a file into chunks that can be parsed apart from each other, on any worker."""

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused | Any]:
        """Utterances; Kaldi gives rows, which are joined first."""

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        """About how many records the file has, at little cost."""


class NamedColumns(ABC):
    """Besides being a Reader: one whose records have named keys, which a job may map."""

    naming: Any  # a Naming (`names.py`)

    @abstractmethod
    def column_names(self, file: CorpusFile, open_file: OpenFile) -> tuple[str, ...]:
        """The keys of the first records; none where they are of a shape whose keys are known (`shapes`)."""
