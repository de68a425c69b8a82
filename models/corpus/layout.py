"""Which files of a listing are the corpus, in what format, and what each may be called in public."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from sottovoce.models.corpus import TABLE, CorpusFile
from sottovoce.models.corpus.kaldi import FILES as KALDI_FILES
from sottovoce.models.errors import CorpusError
from sottovoce.models.settings import resolve

AUTO = "auto"
How = Literal["file", "folder", "glob"]  # what the operator typed
NOT_CORPUS = (".*", "_*", "cache-*.arrow")  # hidden files, markers of a run, and what `datasets` keeps of its own
MANIFEST = "manifest.jsonl"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".deflate")


class Entry(NamedTuple):
    """A file that was found: `name` is its path below the input, with slashes."""

    uri: str
    name: str
    size: int

    @property
    def basename(self) -> str:
        return self.name.rpartition("/")[2]


def choose(entries: Iterable[Entry], wanted: str, shown: str, how: How) -> tuple[str, tuple[CorpusFile, ...]]:
    """(format, files in order) of what was found at `shown`, which is what the operator typed."""
    entries = sorted(entries, key=lambda entry: entry.name)
    if wanted not in (AUTO, *TABLE):
        raise CorpusError(f"input.format: {wanted!r} is not known; allowed: {', '.join((AUTO, *TABLE))}")
    if any(entry.name.endswith(COMPRESSED) for entry in entries) and how != "folder":
        raise CorpusError(f"{shown}: a compressed file cannot be read in pieces; decompress it first")
    format_name = _detect(entries, shown, how) if wanted == AUTO else wanted
    if how == "folder" or wanted == AUTO:
        entries = [entry for entry in entries if how == "file" or _belongs(entry.basename, format_name)]
    if format_name == "kaldi":
        return format_name, _kaldi_files(entries, shown)
    if not entries:
        raise CorpusError(f"{shown}: no {format_name} file there; expected {', '.join(patterns_of(format_name))}")
    named = entries if how == "file" else [entry for entry in entries if entry.name == MANIFEST]
    if named:
        return format_name, (CorpusFile(named[0].uri, named[0].name, named[0].name, named[0].size),)
    return format_name, _numbered(entries)


def patterns_of(format_name: str) -> tuple[str, ...]:
    """What files of a format are called."""
    return resolve(TABLE[format_name]).patterns


def recognised(entries: Iterable[Entry]) -> bool:
    return any(_belongs(entry.basename, name) for entry in entries for name in TABLE)


def _belongs(basename: str, format_name: str) -> bool:
    return _matches(basename, patterns_of(format_name)) and not _matches(basename, NOT_CORPUS)


def _matches(basename: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(basename, pattern) for pattern in patterns)


def _detect(entries: Sequence[Entry], shown: str, how: How) -> str:
    names = {entry.basename for entry in entries}
    if how == "file" and entries[0].name.endswith(".json"):
        return "jsonl"  # NeMo's manifests are often called so
    if how == "folder" and ("wav.scp" in names or {"text", "utt2spk"} <= names):
        return "kaldi"
    visible = names if how == "file" else {name for name in names if not _matches(name, NOT_CORPUS)}
    found = [name for name in TABLE if name != "kaldi" and any(_matches(file, patterns_of(name)) for file in visible)]
    if len(found) == 1:
        return found[0]
    if MANIFEST in names:
        return "jsonl"
    what = f"files of several formats ({', '.join(found)})" if found else "no file of a known format"
    hint = "; name the folder of a Kaldi corpus, not one of its files" if names & set(KALDI_FILES) else ""
    raise CorpusError(
        f"{shown}: {what} there; set input.format to one of {', '.join(TABLE)}. "
        f"Known names: {', '.join(pattern for name in TABLE for pattern in patterns_of(name))}{hint}"
    )


def _kaldi_files(chosen: Sequence[Entry], shown: str) -> tuple[CorpusFile, ...]:
    tables = {entry.name: entry for entry in chosen}
    if "text" not in tables:
        raise CorpusError(f"{shown}: a Kaldi corpus is a folder with the file `text` in it")
    if "segments" in tables and "wav.scp" not in tables:
        raise CorpusError(f"{shown}: `segments` without `wav.scp`")
    return tuple(CorpusFile(tables[name].uri, name, name, tables[name].size) for name in KALDI_FILES if name in tables)


def _numbered(chosen: Sequence[Entry]) -> tuple[CorpusFile, ...]:
    """Nobody typed these names, and they may name people: in public a file is its place in the order."""
    digits = len(str(len(chosen)))
    return tuple(
        CorpusFile(entry.uri, entry.name, f"file {number:0{digits}d} of {len(chosen)}", entry.size)
        for number, entry in enumerate(chosen, start=1)
    )
