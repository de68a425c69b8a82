"""Read a corpus in a plain loop, for commands that work through a batch of files on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from sottovoce.models.corpus import Refused
from sottovoce.models.corpus.kaldi import GENDERS, SEGMENTS, SPEAKERS, TEXT, WAVS, TableRow
from sottovoce.models.corpus.kaldi_join import assemble, locate, name_speakers, whole_recordings
from sottovoce.models.corpus.names import Naming
from sottovoce.models.errors import SettingsError
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec, read_spec
from sottovoce.transforms.read.corpus import Corpus, guarded, make_reader, open_corpus, open_file

RECORDS_AT_ONCE = 128


def read_utterances(
    input_uri: str, format_name: str = "auto", naming: Naming = Naming()
) -> Iterator[Utterance | Refused]:
    """Every record of the corpus in order; those that cannot be read come as refusals."""
    yield from utterances_of(open_corpus(input_uri, format_name, naming), naming)


def utterances_of(corpus: Corpus, naming: Naming = Naming()) -> Iterator[Utterance | Refused]:
    """The same of a corpus that was opened."""
    records = _records(corpus, naming)
    yield from _joined(list(records), corpus) if corpus.format == "kaldi" else records


def read_member(family: str, flag: str, value: str) -> Spec:
    """A member from the command line: a name, "ctc:path", or a mapping such as '{use: silence, guard_ms: 80}'."""
    try:
        return read_spec(family, yaml.safe_load(value))
    except yaml.YAMLError:
        raise SettingsError([f"{flag} {value}: neither a name nor a mapping"]) from None


def _records(corpus: Corpus, naming: Naming) -> Iterator[Any]:
    reader = make_reader(corpus.format, RECORDS_AT_ONCE, naming)
    for file in corpus.files:
        for chunk in guarded(reader.scan(file, open_file), file):
            yield from [chunk] if isinstance(chunk, Refused) else guarded(reader.parse(chunk, open_file), file)


def _joined(records: list[Any], corpus: Corpus) -> Iterator[Utterance | Refused]:
    """The joins of a Kaldi directory, in memory: ids and texts only."""
    yield from (record for record in records if isinstance(record, Refused))
    rows = [record for record in records if isinstance(record, TableRow)]
    tables = frozenset(file.name for file in corpus.files)
    recordings = [row for row in rows if row.table in (WAVS, SEGMENTS)]
    speakers = [row for row in rows if row.table in (SPEAKERS, GENDERS)]
    others = [row for row in rows if row.table not in (WAVS, SEGMENTS, SPEAKERS, GENDERS)]
    located = locate(recordings) if SEGMENTS in tables else whole_recordings(recordings)
    text_file = next(file for file in corpus.files if file.name == TEXT)
    yield from assemble([*others, *located, *name_speakers(speakers)], text_file, tables)
