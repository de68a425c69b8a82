"""Labelled text as one kind of Example, whatever file it came in.

A corpus names slots; `slots.tsv` says which of them are sensitive types, and `common_words.tsv` which of their values name
nothing. What a corpus does not label at all (a tweet corpus without dates) is not evidence of absence: such types are
`unlabelled` (`unlabelled.tsv`), and training leaves them open.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sottovoce.models.errors import CorpusError
from sottovoce.models.runs.committed_run import open_local
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.labelled_rows import OUTSIDE, labelled_rows, readable_lines, tokens_and_tags
from sottovoce.models.text.detect.coverage import stem
from sottovoce.models.text.detect.type_names import renamed
from sottovoce.models.text.language import code_of

MIXED = "?"
_CLOCK = re.compile(
    r"\d:\d|\b([ap]\.? ?m\b|o'? ?clock|noon|midnight|midday|morning|afternoon|evening|night|tonight|hours?|minutes?|"
    r"seconds?|sunrise|sunset|sunup|sundown|dawn|dusk|meal|breakfast|brunch|lunch|dinner|supper|teatime|elevenses)\b|\d[ap]m"
)
_LOCALE = re.compile(r"[a-z]{2}-[A-Z]{2}")  # MASSIVE has one file a locale


@dataclass(frozen=True, slots=True, repr=False)
class TaggedExample:
    """Words with BIO labels of sensitive types, `O`, or `?` where the corpus does not tell. `aside`: the words that have no
    type, each with the slot that the corpus gives it: what else a training may be told."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    corpus: str = ""
    split: str = ""
    unlabelled: frozenset[str] = frozenset()
    language: str = ""
    aside: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The words with one blank between them; offsets of spans count in it."""
        return " ".join(self.tokens)

    def has_entity(self) -> bool:
        """Whether any word begins an entity of a sensitive type."""
        return any(label.startswith("B-") for label in self.labels)


@dataclass(frozen=True, slots=True)
class SlotType:
    """The sensitive type of a slot, and the `ordinary` values of that slot which name nothing."""

    type: str
    ordinary: frozenset[str]


@cache
def slot_map(path: Path = Path(__file__).with_name("slots.tsv")) -> dict[str, dict[str, SlotType]]:
    """{corpus: {slot: type}} of a table like `slots.tsv`."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    rows: dict[str, dict[str, SlotType]] = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        ordinary = frozenset((row["except"] or "").split())
        rows.setdefault(row["corpus"], {})[row["slot"]] = SlotType(row["type"], ordinary)
    return rows


@cache
def common_words(language: str = ENGLISH) -> dict[str, frozenset[str]]:
    """{type: words that name nothing}."""
    if language in ("", ENGLISH):
        return _sets("common_words.tsv")
    rows = (row.split("\t") for row in _lines_of("common_words_languages.tsv"))
    found = {kind: frozenset(words.split()) for code, kind, words in rows if code == language}
    return found | {"TIME": found.get("DATE", frozenset())}


def unlabelled_types() -> dict[str, frozenset[str]]:
    """{corpus: types that it does not label}."""
    return _sets("unlabelled.tsv")


@cache
def _sets(table: str) -> dict[str, frozenset[str]]:
    """Two columns, a name and words: see the head of the table."""
    return {name: frozenset(words.split()) for name, words in (row.split("\t") for row in _lines_of(table))}


def _lines_of(table: str) -> list[str]:
    """Without what is said about the table and without the names of its columns."""
    lines = Path(__file__).with_name(table).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")][1:]


def names_nothing(words: Iterable[str], kind: str, language: str = ENGLISH) -> bool:
    """Whether every word is one that its type has in common use ("airport" of a place); True for no words."""
    common = common_words(language).get(kind, frozenset()) | {""}
    return all(stem(word.lower()) in common for word in words)


@cache
def ordinary_words(kind: str) -> frozenset[str]:
    """Words that some set's slots of this type hold beside what is sensitive: "me and my mother" in a party of people."""
    rows = (row for slots in slot_map().values() for row in slots.values() if row.type == kind)
    return frozenset().union(*(row.ordinary for row in rows))


def corpus_name(path: Path) -> str:
    """'data/snips.jsonl.gz' -> 'snips'."""
    return path.name.split(".")[0]


def read_examples(path: Path, given: Mapping[str, str] | None = None) -> Iterator[TaggedExample]:
    """Examples of a JSONL file (tokens and tags, or text and slots), a CSV file with these columns, a CoNLL file, or the slu
    sink of a committed run."""
    if path.is_dir():
        yield from _read_run(path)
        return
    if not path.is_file():
        raise CorpusError(f"{path}: no such file; expected JSONL, CSV, CoNLL or the folder of a committed run")
    name = corpus_name(path)
    suffixes = {suffix.lstrip(".") for suffix in path.suffixes}
    with gzip.open(path, "rt", encoding="utf-8") if "gz" in suffixes else path.open(encoding="utf-8") as file:
        lines = readable_lines(file, path)
        rows = labelled_rows(lines, suffixes, path)
        open_types = unlabelled_types().get(_LOCALE.sub("massive", name), frozenset())
        for tokens, tags, split, language in rows:
            code = code_of(language)
            labels = label(name, tokens, tags, given, code)
            yield TaggedExample(tuple(tokens), labels, name, split, open_types, code, _aside(tokens, tags, labels))


def _aside(tokens: Sequence[str], tags: Sequence[str], labels: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (token, tag.partition("-")[2])
        for token, tag, known in zip(tokens, tags, labels, strict=True)
        if known in (OUTSIDE, MIXED)
    )


def label(
    corpus: str,
    tokens: Sequence[str],
    tags: Sequence[str],
    given: Mapping[str, str] | None = None,
    language: str = ENGLISH,
) -> tuple[str, ...]:
    """BIO slots -> BIO types. A corpus without rows in the map is labelled with types already, in any scheme and under the
    names that
    others have for them (`type_names.py`), or under names that are `given` a type."""
    types = slot_map().get(_LOCALE.sub("massive", corpus))
    if types is None:
        return tuple(renamed(tags, given or {}))
    labels = [OUTSIDE] * len(tags)
    for begin, end, slot in stretches(tags):
        known = types.get(slot)
        if known is None or known.type == OUTSIDE:
            continue
        kind = known.type
        if kind == "WHEN":
            kind = "TIME" if _CLOCK.search(" ".join(tokens[begin:end]).lower()) else "DATE"
        if names_nothing(tokens[begin:end], kind, language):
            continue
        inside = False
        for at in range(begin, end):
            if kind == MIXED:
                labels[at] = MIXED
            elif tokens[at].lower() in known.ordinary:
                inside = False
            else:
                labels[at] = f"I-{kind}" if inside else f"B-{kind}"
                inside = True
    return tuple(labels)


def stretches(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """(begin, end, slot) of a BIO sequence; an I- that continues nothing begins a stretch, so that no label is lost."""
    begin, name = 0, ""
    for at, tag in enumerate([*tags, OUTSIDE]):
        prefix, _, slot = tag.partition("-")
        if name and (prefix != "I" or slot != name):
            yield begin, at, name
            name = ""
        if not name and prefix in ("B", "I"):
            begin, name = at, slot


def held_out(example: TaggedExample, share: float) -> bool:
    """A stable draw by the text itself: the same utterance falls on the same side in every build."""
    digest = hashlib.sha256(normal(example.tokens).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def normal(tokens: Iterable[str]) -> str:
    """Text for comparing utterances: lower case, letters and digits only."""
    return " ".join("".join(c for c in token.lower() if c.isalnum()) for token in tokens)


def without(
    examples: Iterable[TaggedExample], others: Iterable[TaggedExample], shortest: int = 3
) -> list[TaggedExample]:
    """The examples whose text is in none of the others, so that nothing measured was learnt by heart.

    Texts of fewer than `shortest` words ("ok thanks") are everybody's and stay.
    """
    seen = {normal(other.tokens) for other in others}
    return [e for e in examples if len(e.tokens) < shortest or normal(e.tokens) not in seen]


def leave_open(examples: Iterable[TaggedExample], unlabelled: Iterable[str]) -> list[TaggedExample]:
    """The examples with further types that their corpus does not label: an O there may be one of them."""
    types = frozenset(unlabelled)
    return [replace(example, unlabelled=example.unlabelled | types) for example in examples]


def _read_run(folder: Path) -> Iterator[TaggedExample]:
    run = open_local(str(folder))
    run.verify(["slu"])
    for group in run.groups("slu"):
        for row in group:
            tokens, tags = tokens_and_tags(row)
            yield TaggedExample(tuple(tokens), tuple(tags), folder.name)
