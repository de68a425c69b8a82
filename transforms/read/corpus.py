"""Find a corpus before the pipeline starts: list its files, know its format, look at its first records."""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics

from sottovoce.models.corpus import CorpusFile, Reader, Refused
from sottovoce.models.corpus.layout import AUTO, Entry, How, choose, recognised
from sottovoce.models.corpus.lines import sample_of
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.probe import PEEK_RECORDS, estimate, fingerprint
from sottovoce.models.errors import CorpusError
from sottovoce.models.forget.whose import Part, dialogue_token, speaker_token
from sottovoce.models.settings import Spec, option_names
from sottovoce.models.speech.audio_roots import AudioRoots, open_regular
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine import progress
from sottovoce.transforms.engine.job import Job
from sottovoce.transforms.engine.stage import FAILURES, TALLY, make_failure
from sottovoce.transforms.read.answered import answered, cause

LEVELS = ("*", "*/*", "*/*/*")  # how far below a folder its files are looked for
HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Corpus:
    """What the driver knows. `records` and `text_bytes` are estimates."""

    format: str
    files: tuple[CorpusFile, ...]
    text_only: bool
    fingerprint: str
    records: int
    text_bytes: int
    folders: tuple[str, ...] = ()  # where its files lie, and the folder that the operator typed
    languages: frozenset[str] = frozenset()  # that the first records name
    unread: tuple[str, ...] = ()  # keys of its first file that nothing here reads
    notes: tuple[str, ...] = ()  # for the operator, before the run

    def audio_roots(self, more: Iterable[str] = ()) -> AudioRoots:
        """Where its recordings may lie: beside its files, and under `more` folders or URIs, as the operator typed them."""
        typed = (root if "://" in root else os.path.abspath(root) for root in more)
        return AudioRoots((*self.folders, *typed), frozenset(file.uri for file in self.files))


def open_file(uri: str) -> BinaryIO:
    """The bytes as they are stored: Beam unpacks nothing by the suffix of a name."""
    return FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED)


@dataclass(frozen=True)
class OpenAudio:
    """Opens a recording that lies where recordings may lie, and is a file."""

    roots: AudioRoots

    def __call__(self, uri: str) -> BinaryIO:
        place = self.roots.place(uri)
        return open_file(place) if "://" in place else open_regular(place)


def make_reader(format_name: str, records_per_batch: int, naming: Naming = Naming()) -> Reader:
    """CorpusError where columns are named for a format that has no names of its own."""
    options: list[tuple[str, Any]] = [("records_per_batch", records_per_batch)]
    if "naming" in option_names("corpus", format_name):
        options.append(("naming", naming))
    elif naming.columns:
        raise CorpusError(f"input.columns: a corpus of format {format_name} has no names of its own for them")
    return Spec("corpus", format_name, tuple(options)).make()


def open_corpus(input_uri: str, format_name: str = AUTO, naming: Naming = Naming()) -> Corpus:
    """`input_uri`: a file, a folder or a glob, local or of any filesystem that Beam knows."""
    local = "://" not in input_uri
    uri = os.path.abspath(input_uri) if local else input_uri.rstrip("/")
    try:
        if not local:  # listing may take its time; a first answer may not
            answered(
                lambda: FileSystems.exists(f"{_fixed_folder(f'{uri}/*')}/_"), input_uri
            )  # S3 takes no bucket alone
        entries, how = _find_local(uri) if local else _find_remote(uri)
        if not entries:
            raise CorpusError(f"{input_uri}: {_absent(uri)}; expected a file, a folder or a glob")
        found, files = choose(entries, format_name, input_uri, how, _head)
        size = estimate(make_reader(found, PEEK_RECORDS, naming), files, open_file)
        # Below a folder that was typed lie all others.
        own = [uri] if how == "folder" else [file.uri.rpartition("/")[0] for file in files]
        folders = tuple(dict.fromkeys([*own, *([naming.audio_folder] if naming.audio_folder else [])]))
        known = fingerprint(files, open_file)
        estimated = (size.records, size.text_bytes, folders, size.languages, size.unread, size.notes)
        return Corpus(found, files, size.text_only, known, *estimated)
    except (OSError, ValueError) as error:
        why = type(error).__name__ if local else cause(error, uri)
        raise CorpusError(f"{input_uri}: cannot be read ({why})") from None


def _absent(uri: str) -> str:
    if os.path.isdir(uri):
        return "no file there, nor in the three levels of folders below"
    return "neither a file nor a folder" if os.path.exists(uri) else "nothing there"


def _head(entry: Entry) -> bytes:
    return sample_of(CorpusFile(entry.uri, entry.name, "", entry.size), open_file, HEAD_BYTES)[0]


def _find_local(path: str) -> tuple[list[Entry], How]:
    """The files, and what the path names. Beam's own listing walks the whole tree below, recordings and all."""
    if os.path.isfile(path):
        return [Entry(path, os.path.basename(path), os.path.getsize(path))], "file"
    if os.path.isdir(path):
        below: list[Entry] = []
        for pattern in LEVELS:
            found = [os.path.join(path, name) for name in glob.glob(pattern, root_dir=path)]
            entries = _entries(((file, os.path.getsize(file)) for file in found if os.path.isfile(file)), path)
            if recognised(entries):
                return entries, "folder"
            below += entries
        return below, "folder"
    found = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
    return _entries(((file, os.path.getsize(file)) for file in found), _fixed_folder(path)), "glob"


def _find_remote(uri: str) -> tuple[list[Entry], How]:
    if re.search(r"[*?\[]", uri):
        return _entries(_match(uri), _fixed_folder(uri)), "glob"
    below: list[Entry] = []
    for pattern in LEVELS:
        entries = _entries(_match(f"{uri}/{pattern}"), uri)
        if recognised(entries):
            return entries, "folder"
        below += entries
    exact = _match(uri)
    if below or not exact:
        return below, "folder"
    return _entries(exact, uri.rpartition("/")[0]), "file"


def _match(pattern: str) -> list[tuple[str, int]]:
    return [(found.path, found.size_in_bytes) for found in FileSystems.match([pattern])[0].metadata_list]


def _entries(found: Iterable[tuple[str, int]], folder: str) -> list[Entry]:
    return [Entry(uri, uri[len(folder) :].lstrip("/"), size) for uri, size in found]


def _fixed_folder(pattern: str) -> str:
    """The folder before the first wildcard."""
    return re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]


STAGE = "read"


class Reading(beam.DoFn):
    """What DoFns that read share: counts, progress, and failures that name file and line and nothing of the content."""

    def __init__(self, reader: Reader, job: Job):
        self._reader, self._secret, self._progress_dir = reader, job.secret, job.progress_dir
        self._received = Metrics.counter("sottovoce", f"{STAGE}_received")
        self._failed = Metrics.counter("sottovoce", f"{STAGE}_failed")

    def teardown(self) -> None:
        """The last counts of this worker, which progress may have held back."""
        progress.flush()

    def report(self, refused: Sequence[Refused], passed: int, began: float) -> Iterator[beam.pvalue.TaggedOutput]:
        """Failures and a tally of what was read since `began` (of `time.perf_counter`); nothing where nothing was read."""
        seconds = time.perf_counter() - began  # before anything is passed on: what follows is not reading
        received = len(refused) + passed
        if not received:
            return
        failures = [
            make_failure(self._secret, STAGE, item.key, item.source, item.error, self._part_of(item))
            for item in refused
        ]
        self._received.inc(received)
        self._failed.inc(len(failures))
        progress.note(self._progress_dir, STAGE, received, len(failures))
        if failures:
            yield beam.pvalue.TaggedOutput(FAILURES, failures)
        reasons = [failure.reason for failure in failures]
        tally = Tally.of(STAGE, received=received, passed=passed, reasons=reasons, seconds=seconds)
        yield beam.pvalue.TaggedOutput(TALLY, tally)

    def _part_of(self, refused: Refused) -> Part:
        """Whose it is, as far as the record says."""
        speaker, dialogue = refused.speaker_id, refused.dialogue_id
        return Part(
            "" if speaker is None else speaker_token(self._secret, speaker),
            "" if dialogue is None else dialogue_token(self._secret, dialogue),
        )

    def sort_out(self, records: Sequence[Any], began: float) -> Iterator[Any]:
        """The report, then a batch of what passed."""
        progress.stop_if_asked(self._progress_dir)
        passed = [record for record in records if not isinstance(record, Refused)]
        yield from self.report([record for record in records if isinstance(record, Refused)], len(passed), began)
        if passed:
            yield passed


def guarded(found: Iterator[Any], file: CorpusFile) -> Iterator[Any]:
    """An error of a filesystem quotes paths, and a path may name a person: the file is told by its public label."""
    try:
        yield from found
    except OSError as error:
        raise CorpusError(f"{file.label}: cannot be read ({type(error).__name__})") from None
