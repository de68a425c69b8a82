"""A corpus in memory or on disk, read by a plain loop: no Beam."""

import io
import itertools
import json

import pytest

from sottovoce.models.corpus import Chunk, CorpusFile, Refused
from sottovoce.models.corpus.kaldi import Kaldi
from sottovoce.models.corpus.kaldi_join import assemble, locate, name_speakers, whole_recordings
from sottovoce.models.settings import Spec


def reader(format_name, records_per_batch=128):
    return Spec("corpus", format_name, (("records_per_batch", records_per_batch),)).make()


class Memory:
    """Files by name; `opened` tells which were opened."""

    def __init__(self, **contents):
        self.contents = {
            name: content.encode() if isinstance(content, str) else content for name, content in contents.items()
        }
        self.opened = []

    @property
    def files(self):
        return [CorpusFile(f"/corpus/{name}", name, name, len(content)) for name, content in self.contents.items()]

    def open(self, uri):
        self.opened.append(uri)
        return io.BytesIO(self.contents[uri.removeprefix("/corpus/")])

    def chunks(self, format_name, records_per_batch=128):
        of = reader(format_name, records_per_batch)
        return [chunk for file in self.files for chunk in of.scan(file, self.open)]

    def read(self, format_name, records_per_batch=128):
        of = reader(format_name, records_per_batch)
        items = []
        for chunk in self.chunks(format_name, records_per_batch):
            items.extend(of.parse(chunk, self.open) if isinstance(chunk, Chunk) else [chunk])
        return self.join(items) if isinstance(of, Kaldi) else items

    def join(self, items):
        """What transforms/read/read_kaldi.py does, with one bucket."""
        tables = {name: [item for item in items if getattr(item, "table", "") == name] for name in self.contents}
        segments, genders = tables.get("segments"), tables.get("spk2gender", [])
        wavs = tables.get("wav.scp", [])
        audio = whole_recordings(wavs) if segments is None else locate(itertools.chain(wavs, segments))
        speakers = name_speakers([*genders, *tables.get("utt2spk", [])])
        rows = [*tables["text"], *audio, *speakers, *tables.get("utt2dialogue", [])]
        text_file = next(file for file in self.files if file.name == "text")
        return [item for item in items if isinstance(item, Refused)] + list(assemble(rows, text_file, tables))


def parquet_bytes(rows, schema=None, row_group_size=1024):
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out, row_group_size=row_group_size)
    return out.getvalue()


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def tools():
    """Tests cannot import from one another: they share what stands here."""
    import types

    return types.SimpleNamespace(Memory=Memory, reader=reader, parquet_bytes=parquet_bytes, jsonl=jsonl, code=code_of)


def code_of(record):
    return record.error.code if isinstance(record, Refused) else None
