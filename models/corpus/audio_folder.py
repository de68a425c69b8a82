"""A folder of recordings without a table: each is a record, and its text is the `.txt` or `.lab` file of the same name beside it.

A recording without such a file has the text "-": refused, unless somebody writes it down (`audio.transcribe`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sottovoce.models.corpus import RECORDS_PER_BATCH, Chunk, CorpusFile, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.names import NO_TEXT
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES, LineTooLong, NotUtf8
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require

SOUND = ("wav", "flac", "mp3", "ogg", "opus", "m4a", "aac", "aiff", "aif", "sph", "au", "webm", "mp4")
TRANSCRIPTS = (".txt", ".lab")


@dataclass(frozen=True)
class AudioFolder:
    """Reads a folder of sound files, each of them one record of one chunk."""

    patterns: ClassVar[tuple[str, ...]] = tuple(f"*.{kind}" for kind in SOUND)
    records_per_batch: int = RECORDS_PER_BATCH

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        yield Chunk(file, 0, file.size, 1)

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        yield attempt(chunk.file, 1, _utterance, chunk.file, open_file)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return 1


def _utterance(file: CorpusFile, open_file: OpenFile) -> Utterance:
    fields = {
        "id": file.name.rpartition(".")[0],
        "text": _transcript(file.uri.rpartition(".")[0], open_file),
        "audio_filepath": file.uri,
    }
    return utterance(fields, file, 1)


def _transcript(stem: str, open_file: OpenFile) -> str:
    for suffix in TRANSCRIPTS:
        try:
            with open_file(stem + suffix) as stream:
                content = stream.read(MAX_LINE_BYTES + 1)
        except (OSError, ValueError):  # not there, as most filesystems say it
            continue
        if len(content) > MAX_LINE_BYTES:
            raise LineTooLong
        try:
            return " ".join(content.decode("utf-8-sig").split()) or NO_TEXT
        except UnicodeDecodeError:
            raise NotUtf8 from None
    return NO_TEXT
