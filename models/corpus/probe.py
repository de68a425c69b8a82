"""A look at a corpus before a run: what identifies it, whether it has audio, and about how large it is."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.models.corpus import CorpusFile, NamedColumns, OpenFile, Reader, Refused
from sottovoce.models.corpus.kaldi import TEXT, WAVS, Kaldi, TableRow
from sottovoce.models.corpus.names import AUDIO, Naming
from sottovoce.models.corpus.reasons import FileUnreadable
from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Utterance

PEEK_RECORDS = 100
PEEK_FILES = 10
EDGE_BYTES = 1 << 16
WHOLE_BYTES = 1 << 26  # up to here a file is read whole to tell it from another: a tenth of a second
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks


@dataclass(frozen=True)
class CorpusSize:
    """About how much there is, and whether there is speech, before a run begins: estimated from the first records."""

    records: int
    text_bytes: int
    text_only: bool
    languages: frozenset[str] = frozenset()  # that the first records name
    unread: tuple[str, ...] = ()  # keys of the first file that nothing here reads
    notes: tuple[str, ...] = ()  # what the operator should know before the run; nothing that a record says


def fingerprint(files: Sequence[CorpusFile], open_file: OpenFile) -> str:
    """Names, sizes and contents; of files above 64 MiB the first and last 64 KiB alone: a change between that keeps the size is
    not noticed there."""
    seen = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        with open_file(file.uri) as stream:
            if file.size <= WHOLE_BYTES:
                content = stream.read(WHOLE_BYTES)
            else:
                content = stream.read(EDGE_BYTES)
                stream.seek(file.size - EDGE_BYTES)
                content += stream.read(EDGE_BYTES)
        for part in (file.name.encode("utf-8", "surrogatepass"), str(file.size).encode(), content):
            seen.update(len(part).to_bytes(8, "big") + part)
    return seen.hexdigest()


def estimate(reader: Reader, files: Sequence[CorpusFile], open_file: OpenFile) -> CorpusSize:
    """From the first records; of the number of records, from one file and the size of the others."""
    kaldi = isinstance(reader, Kaldi)
    texts = [file for file in files if file.name == TEXT] if kaldi else list(files)
    _refuse_utf_16(texts[:PEEK_FILES], open_file)
    seen = list(itertools.islice(_records(reader, texts[:PEEK_FILES], open_file), PEEK_RECORDS))
    keys = reader.column_names(texts[0], open_file) if texts and isinstance(reader, NamedColumns) else ()
    found = [record for record in seen if isinstance(record, Utterance)]
    lengths = [len(_text(record).encode("utf-8")) for record in seen if not isinstance(record, Refused)]
    if seen and all(isinstance(record, Refused) and isinstance(record.error, FileUnreadable) for record in seen):
        raise CorpusError(f"{seen[0].source.file}: not a complete file of its format")
    counted = ((reader.count(file, open_file), file.size) for file in texts[:PEEK_FILES] if file.size)
    count, size = next((pair for pair in counted if pair[0]), (0, 1))
    records = round(count * sum(file.size for file in texts) / size)
    return CorpusSize(
        records=records,
        text_bytes=round(records * sum(lengths) / len(lengths)) if lengths else 0,
        text_only=not any(file.name == WAVS and file.size for file in files)
        if kaldi
        else not any(record.audio is not None for record in found),
        languages=frozenset(record.language for record in found if record.language),
        unread=tuple(_unread(reader, keys)),
        notes=tuple(_notes(reader, keys, found)),
    )


def _refuse_utf_16(files: Sequence[CorpusFile], open_file: OpenFile) -> None:
    """As spreadsheets save "Unicode text": every line would be refused, and no column found."""
    for file in files:
        if file.name.lower().endswith((".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".conll")):
            with open_file(file.uri) as stream:
                if stream.read(2) in UTF_16:
                    raise CorpusError("the corpus is in UTF-16; expected UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW")


def _unread(reader: Reader, keys: Sequence[str]) -> Iterator[str]:
    if isinstance(reader, NamedColumns):
        read = {*reader.naming.sources(keys).values(), AUDIO}
        yield from (key for key in keys if key not in read)


def _notes(reader: Reader, keys: Sequence[str], seen: Sequence[Utterance]) -> Iterator[str]:
    """Names that were guessed, keys that look misspelt, and known keys that are nowhere."""
    if isinstance(reader, NamedColumns):
        yield from _notes_of_names(reader.naming, keys)
    if not seen:
        return
    if not any(record.speaker_id for record in seen):
        yield "no speaker_id: who speaks is not known; a budget for each speaker is one for each dialogue then"
    if all(not record.named or record.dialogue_id == record.id for record in seen):
        yield "no dialogue_id: every record is a dialogue of its own"


def _notes_of_names(naming: Naming, keys: Sequence[str]) -> Iterator[str]:
    used = naming.sources(keys)
    guessed = [
        f"{ours} from {theirs}" for ours, theirs in used.items() if ours != theirs and ours not in naming.columns
    ]
    if guessed:
        yield f"read by well-known names: {', '.join(guessed)} (input.columns says otherwise)"
    for key, ours in naming.unread(keys):
        if ours == "dialogue_id":
            raise CorpusError(
                f"the key {key} looks like dialogue_id and is not read: turns of one conversation could end in two sinks. "
                f"Set input.columns: {{dialogue_id: {key}}}, or {{dialogue_id: null}} if it means something else"
            )
        yield f"the key {key} looks like {ours} and is not read; input.columns: {{{ours}: {key}}} reads it"
    if keys and "text" not in used and "text" not in naming.columns:
        raise CorpusError(
            "no key of the first records is read as text. Name it: --set 'input.columns={text: NAME}'; {text: null} where "
            "nobody wrote down what is said"
        )
    absent = [theirs for theirs in naming.columns.values() if keys and theirs is not None and theirs not in keys]
    if absent:
        raise CorpusError(f"input.columns: no key {', '.join(absent)} in the first records")


def _records(reader: Reader, files: Sequence[CorpusFile], open_file: OpenFile) -> Iterator[Any]:
    for file in files:
        for chunk in reader.scan(file, open_file):
            yield from [chunk] if isinstance(chunk, Refused) else reader.parse(chunk, open_file)


def _text(record: Utterance | TableRow) -> str:
    return record.text if isinstance(record, Utterance) else record.values[0]
