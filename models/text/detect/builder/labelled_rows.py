"""Labelled files as rows of words and tags: JSONL, CSV and CoNLL. What the tags mean is for `corpora.py`."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from sottovoce.models.errors import CorpusError

OUTSIDE = "O"
MAX_LINE = 1 << 20
_NLU_SUFFIXES = ("jsonl", "json")


def readable_lines(file: TextIO, path: Path) -> Iterator[str]:
    """Lines of the file; text that is not UTF-8, a damaged archive or an endless line is a CorpusError."""
    try:
        yield from _lines(file, path)
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: not UTF-8; convert it, such as with: iconv -f latin1 -t utf-8") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise CorpusError(f"{path}: the compressed file is damaged or cut off; fetch it again") from None


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """A line that does not end is told before it fills the memory: compressed, it may be a few kilobytes."""
    for number in itertools.count(1):
        line = file.readline(MAX_LINE + 1)
        if not line:
            return
        if len(line) > MAX_LINE:
            raise CorpusError(f"{path.name}, line {number}: longer than {MAX_LINE} characters")
        yield line


def labelled_rows(
    lines: Iterator[str], suffixes: set[str], path: Path
) -> Iterator[tuple[list[str], list[str], str, str]]:
    """By the suffix; without one that says it, JSONL is told by its first sign, and the rest is CoNLL."""
    if "csv" in suffixes:
        return _csv_rows(lines, path)
    first = next((line for line in lines if line.strip()), "")
    lines = itertools.chain([first], lines)
    told = suffixes & set(_NLU_SUFFIXES) or first.lstrip().startswith("{")
    return _json_rows(lines, path) if told else _conll_rows(lines)


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[list[str], list[str], str, str]]:
    """A row an utterance: words and tags with blanks between them."""
    rows = csv.DictReader(lines)
    missing = {"tokens", "tags"} - set(rows.fieldnames or ())
    if missing:
        named = ", ".join(sorted(missing))
        raise CorpusError(
            f"{path.name}: no column {named}; a CSV has tokens and tags, with blanks between them, and may have split and lang"
        )
    for number, row in enumerate(rows, 2):
        tokens, tags = (row["tokens"] or "").split(), (row["tags"] or "").split()
        if len(tokens) != len(tags):
            raise CorpusError(f"{path.name}, line {number}: {len(tokens)} tokens and {len(tags)} tags")
        yield tokens, tags, row.get("split") or "", row.get("lang") or ""


def _json_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[list[str], list[str], str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            tokens, tags = tokens_and_tags(row)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CorpusError(f"{path.name}, line {number}: expected tokens and tags, or text and slots") from None
        yield tokens, tags, str(row.get("split", "")), str(row.get("lang") or row.get("language") or "")


def tokens_and_tags(row: Mapping) -> tuple[list[str], list[str]]:
    """(words, BIO tags) of a row with `tokens` and `tags`, or with `text` and `slots`; a ValueError where numbers differ."""
    if "tokens" in row:
        tokens, tags = list(row["tokens"]), list(row["tags"])
        if len(tokens) != len(tags):
            raise ValueError
        return tokens, tags
    return split_slots(row["text"], [(int(s["begin"]), int(s["end"]), str(s["name"])) for s in row.get("slots", ())])


def split_slots(text: str, slots: Sequence[tuple[int, int, str]]) -> tuple[list[str], list[str]]:
    """Text with character slots -> words with BIO tags. Words are cut at slot borders, so that no label spills over."""
    borders = sorted({0, len(text), *(at for begin, end, _ in slots for at in (begin, end))})
    tokens, tags = [], []
    previous = None
    for begin, end in itertools.pairwise(borders):
        slot = next((s for s in slots if s[0] <= begin < s[1]), None)
        for word in text[begin:end].split():
            tokens.append(word)
            tags.append(OUTSIDE if slot is None else f"{'I' if slot is previous else 'B'}-{slot[2]}")
            previous = slot
    return tokens, tags


def _conll_rows(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str], str, str]]:
    """One word a line, its tag in the last column, a blank line between utterances."""
    tokens: list[str] = []
    tags: list[str] = []
    for line in itertools.chain(lines, [""]):
        columns = line.split()
        if columns and not line.startswith("-DOCSTART-") and not (line.startswith("#") and len(columns) > 2):
            tokens.append(columns[0])
            tags.append(columns[-1])
        elif tokens:
            yield tokens, tags, "", ""
            tokens, tags = [], []
