"""Find a corpus before the pipeline starts: list its files, know its format, look at its first records."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.corpus import CorpusFile, Reader
from sottovoce.models.corpus.layout import AUTO, Entry, How, choose, recognised
from sottovoce.models.corpus.probe import PEEK_RECORDS, estimate, fingerprint
from sottovoce.models.errors import CorpusError
from sottovoce.models.settings import Spec


@dataclass(frozen=True)
class Corpus:
    """What the driver knows. `records` and `text_bytes` are estimates."""

    format: str
    files: tuple[CorpusFile, ...]
    text_only: bool
    fingerprint: str
    records: int
    text_bytes: int


def open_file(uri: str) -> BinaryIO:
    return FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED)


def make_reader(format_name: str, records_per_batch: int) -> Reader:
    return Spec("corpus", format_name, (("records_per_batch", records_per_batch),)).make()


def open_corpus(input_uri: str, format_name: str = AUTO) -> Corpus:
    """`input_uri`: a file, a folder or a glob, local or of any filesystem that Beam knows."""
    local = "://" not in input_uri
    uri = os.path.abspath(input_uri) if local else input_uri.rstrip("/")
    try:
        entries, how = _find_local(uri) if local else _find_remote(uri)
        if not entries:
            raise CorpusError(f"{input_uri}: nothing there; expected a file, a folder or a glob")
        found, files = choose(entries, format_name, input_uri, how)
        size = estimate(make_reader(found, PEEK_RECORDS), files, open_file)
        return Corpus(found, files, size.text_only, fingerprint(files, open_file), size.records, size.text_bytes)
    except (OSError, ValueError) as error:  # Beam raises ValueError for a scheme it has no filesystem for
        raise CorpusError(f"{input_uri}: cannot be read ({type(error).__name__})") from None


def _find_local(path: str) -> tuple[list[Entry], How]:
    """The files, and what the path names. Beam's own listing walks the whole tree below, recordings and all."""
    if os.path.isfile(path):
        return [Entry(path, os.path.basename(path), os.path.getsize(path))], "file"
    if os.path.isdir(path):
        for pattern in ("*", "*/*"):
            found = [os.path.join(path, name) for name in glob.glob(pattern, root_dir=path)]
            entries = _entries(((file, os.path.getsize(file)) for file in found if os.path.isfile(file)), path)
            if recognised(entries):
                break
        return entries, "folder"
    found = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
    return _entries(((file, os.path.getsize(file)) for file in found), _fixed_folder(path)), "glob"


def _find_remote(uri: str) -> tuple[list[Entry], How]:
    if re.search(r"[*?\[]", uri):
        return _entries(_match(uri), _fixed_folder(uri)), "glob"
    for pattern in (f"{uri}/*", f"{uri}/*/*"):
        entries = _entries(_match(pattern), uri)
        if recognised(entries):
            return entries, "folder"
    exact = _match(uri)
    if entries or not exact:
        return entries, "folder"
    return _entries(exact, uri.rpartition("/")[0]), "file"


def _match(pattern: str) -> list[tuple[str, int]]:
    return [(found.path, found.size_in_bytes) for found in FileSystems.match([pattern])[0].metadata_list]


def _entries(found: Iterable[tuple[str, int]], folder: str) -> list[Entry]:
    return [Entry(uri, uri[len(folder) :].lstrip("/"), size) for uri, size in found]


def _fixed_folder(pattern: str) -> str:
    """The folder before the first wildcard."""
    return re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
