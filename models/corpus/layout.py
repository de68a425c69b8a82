"""Which files of a listing are the corpus, in what format, and what each may be called in public."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from sottovoce.models.corpus import TABLE, CorpusFile
from sottovoce.models.corpus.kaldi import FILES as KALDI_FILES
from sottovoce.models.corpus.lines import OPENERS, plain_name
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.shapes import shape_of
from sottovoce.models.errors import CorpusError
from sottovoce.models.settings import resolve

AUTO = "auto"
How = Literal["file", "folder", "glob"]  # what the operator typed
NOT_CORPUS = (".*", "_*", "cache-*.arrow")  # hidden files, markers of a run, and what `datasets` keeps of its own
MANIFEST = "manifest.jsonl"
UNREAD = (".zst", ".zip", ".deflate", ".7z", ".rar", ".tar", ".tgz")
SOUND = "audio"  # the format of recordings without a table, where nothing else is there


class Entry(NamedTuple):
    """A file that was found: `name` is its path below the input, with slashes."""

    uri: str
    name: str
    size: int

    @property
    def basename(self) -> str:
        """Of what is inside, where it is compressed."""
        return plain_name(self.name.rpartition("/")[2])


Head = Callable[[Entry], bytes]  # the first bytes of a file's content


def choose(
    entries: Iterable[Entry], wanted: str, shown: str, how: How, head: Head = lambda entry: b""
) -> tuple[str, tuple[CorpusFile, ...]]:
    """(format, files in order) of what was found at `shown`, which is what the operator typed."""
    entries = sorted(entries, key=lambda entry: entry.name)
    if wanted not in (AUTO, *TABLE):
        raise CorpusError(f"input.format: {wanted!r} is not known; allowed: {', '.join((AUTO, *TABLE))}")
    if any(entry.name.endswith(UNREAD) for entry in entries) and how != "folder":
        raise CorpusError(f"{shown}: compressed; decompress it first (read as they are: {', '.join(OPENERS)})")
    format_name = _detect(entries, shown, how, head) if wanted == AUTO else wanted
    if (how == "folder" or wanted == AUTO) and how != "file" and not _all_json(entries, how):
        entries = [entry for entry in entries if _belongs(entry.basename, format_name)]
    if format_name == "kaldi":
        return format_name, _kaldi_files(entries, shown)
    if not entries:
        raise CorpusError(f"{shown}: no {format_name} file there; expected {', '.join(patterns_of(format_name))}")
    named = entries if how == "file" else [entry for entry in entries if plain_name(entry.name) == MANIFEST]
    if named:
        return format_name, (CorpusFile(named[0].uri, named[0].name, named[0].name, named[0].size),)
    return format_name, _numbered(entries)


def patterns_of(format_name: str) -> tuple[str, ...]:
    """What files of a format are called."""
    return resolve(TABLE[format_name]).patterns


def recognised(entries: Iterable[Entry]) -> bool:
    """Whether there are tables, manifests or documents; recordings alone may have one further below."""
    return any(_belongs(entry.basename, name) for entry in entries for name in TABLE if name != SOUND)


def _belongs(basename: str, format_name: str) -> bool:
    return _matches(basename, patterns_of(format_name)) and not _matches(basename, NOT_CORPUS)


def _matches(basename: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in (basename, basename.lower()) for pattern in patterns)


def _all_json(entries: Sequence[Entry], how: How) -> bool:
    """Files that the operator named: whatever they are called, their content tells."""
    return how != "folder" and bool(entries) and all(entry.basename.endswith(".json") for entry in entries)


def is_document(head: bytes) -> bool:
    """Whether JSON is one document, by its first bytes, or an object on each line (NeMo's manifests are called .json, too)."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line, _, rest = head.partition(b"\n")
    if not head.startswith(b"{"):
        return head.startswith(b"[")
    try:
        first = json.loads(line)
    except ValueError:
        return True
    if rest.strip() or shape_of(first) is not None or "text" in Naming().sources(first):
        return False
    return any(isinstance(value, dict | list) for value in first.values())


def _detect(entries: Sequence[Entry], shown: str, how: How, head: Head) -> str:
    names = {entry.basename for entry in entries}
    if _all_json(entries, how):
        return "json" if is_document(head(entries[0])) else "jsonl"
    if how == "folder" and ("wav.scp" in names or {"text", "utt2spk"} <= names):
        return "kaldi"
    visible = names if how == "file" else {name for name in names if not _matches(name, NOT_CORPUS)}
    found = [name for name in TABLE if name != "kaldi" and any(_matches(file, patterns_of(name)) for file in visible)]
    if len(found) > 1 and SOUND in found:
        found.remove(SOUND)
    if set(found) == {"jsonl", "json"}:
        first = next(entry for entry in entries if entry.basename in visible and _belongs(entry.basename, "json"))
        return "json" if is_document(head(first)) else "jsonl"
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
