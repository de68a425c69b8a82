"""CoNLL columns (text only): a token a line, its BIO tag in the last column, a blank line after each sentence.

`-DOCSTART-` or `# dialogue_id = x` begins a dialogue; without either, a sentence is its own. Before the first token of
a sentence, `# key = value` sets id, turn, speaker_id, gender, language or intent; other lines with `# ` are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, AnyStr, ClassVar

from sottovoce.models.corpus import CHUNK_BYTES, RECORDS_PER_BATCH, Chunk, CorpusFile, OpenFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.lines import Line, estimate, is_compressed, lines_of, whole
from sottovoce.models.corpus.reasons import MAX_ID_CHARACTERS, MAX_LINE_BYTES, LineTooLong, TagsMalformed, TurnNotWhole
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require

COMMENT_KEYS = ("id", "turn", "speaker_id", "gender", "language", "intent")
DOCUMENT = b"-DOCSTART-"
BEGINS, CONTINUES = "BSU", "IEL"  # BIO, and the same in BIOES and BILOU

_tag = re.compile(f"O|([{BEGINS}{CONTINUES}])-(.+)").fullmatch


@dataclass(slots=True, repr=False)
class SentenceLines:
    """The lines of one sentence and the dialogue it belongs to. `lines` is None where they were too much to hold."""

    first: Line
    dialogue: str | None
    turn: int
    by_place: bool = False
    lines: list[Line] | None = field(default_factory=list)
    size: int = 0
    has_token: bool = False

    def add(self, line: Line) -> None:
        self.size += line.end - line.begin
        self.has_token = self.has_token or not _is_comment(line)
        if self.size > MAX_LINE_BYTES:
            self.lines = None
        elif self.lines is not None:
            self.lines.append(line)


@dataclass(frozen=True)
class Conll:
    """Reads sentences with BIO tags; `# dialogue_id` and the like above a sentence say where it belongs."""

    patterns: ClassVar[tuple[str, ...]] = ("*.conll", "*.conllu", "*.bio", "*.iob", "*.iob2")
    records_per_batch: int = RECORDS_PER_BATCH

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be 1 or more"))

    def scan(self, file: CorpusFile, open_file: OpenFile) -> Iterator[Chunk]:
        """A chunk begins with a sentence, and remembers the dialogue and turn that this sentence continues."""
        chunk, records = whole(file), 0
        if is_compressed(file):
            yield chunk
            return
        for sentence in _sentences(chunk, open_file):
            if records >= self.records_per_batch or (records and sentence.first.begin - chunk.begin >= CHUNK_BYTES):
                yield replace(chunk, end=sentence.first.begin)
                chunk = Chunk(
                    file,
                    sentence.first.begin,
                    file.size,
                    sentence.first.number,
                    dialogue=sentence.dialogue,
                    turn=sentence.turn,
                    by_place=sentence.by_place,
                )
                records = 0
            records += 1
        if records:
            yield chunk

    def parse(self, chunk: Chunk, open_file: OpenFile) -> Iterator[Utterance | Refused]:
        for sentence in _sentences(chunk, open_file):
            yield attempt(chunk.file, sentence.first.number, _utterance, sentence, chunk.file)

    def count(self, file: CorpusFile, open_file: OpenFile) -> int:
        return estimate(file, open_file, b"\n\n")


def _sentences(chunk: Chunk, open_file: OpenFile) -> Iterator[SentenceLines]:
    """Each sentence with its dialogue. A chunk that begins with a sentence gives what the whole file gives there."""
    dialogue, turn, by_place = chunk.dialogue, chunk.turn, chunk.by_place
    sentence: SentenceLines | None = None
    for line in lines_of(chunk, open_file):
        content = line.content or b""
        starts_document = content.startswith(DOCUMENT)
        if line.blank or starts_document:
            if sentence is not None and sentence.has_token:
                yield sentence
                turn += 1
            sentence = None
            if starts_document:
                dialogue, turn, by_place = chunk.file.place(line.number), 0, True
            continue
        if sentence is None:
            sentence = SentenceLines(line, dialogue, turn, by_place)
        named = None if sentence.has_token else _comment(content).get(b"dialogue_id")
        if named is not None:
            by_place = sentence.by_place = not named
            name = _name(named) or chunk.file.place(line.number)
            turn = turn if name == dialogue else 0
            dialogue = sentence.dialogue = name
            sentence.turn = turn
        sentence.add(line)
    if sentence is not None and sentence.has_token:
        yield sentence


def _is_comment(line: Line) -> bool:
    return line.content is not None and (line.content == b"#" or line.content.startswith(b"# "))


def _comment(content: AnyStr) -> dict[AnyStr, AnyStr]:
    """{key: value} of `# key = value`."""
    hash_sign, equals = (b"# ", b"=") if isinstance(content, bytes) else ("# ", "=")
    key, found, value = content[2:].partition(equals)
    return {key.strip(): value.strip()} if found and content.startswith(hash_sign) else {}


def _name(value: bytes) -> str:
    """A name that cannot be read, or is too long, becomes one that is refused: its sentences must not go astray."""
    try:
        return value.decode("utf-8")[: MAX_ID_CHARACTERS + 1]
    except UnicodeDecodeError:
        return "?" * (MAX_ID_CHARACTERS + 1)


def _utterance(sentence: SentenceLines, file: CorpusFile) -> Utterance:
    if sentence.lines is None:
        raise LineTooLong
    numbered = sentence.dialogue is not None
    fields: dict[str, Any] = {"dialogue_id": sentence.dialogue, "turn": sentence.turn if numbered else None}
    tokens: list[str] = []
    tags: list[str] = []
    for line in sentence.lines:
        text = line.text()
        if not tokens and _is_comment(line):
            for key, value in _comment(text).items():
                if key in COMMENT_KEYS:
                    fields[key] = _turn(value) if key == "turn" else value
            continue
        columns = [column.strip() for column in (text.split("\t") if "\t" in text else text.split())]
        if not columns[0]:
            raise TagsMalformed
        tokens.append(columns[0])
        tags.append(columns[-1] if len(columns) > 1 else "O")
    fields |= {"text": " ".join(tokens), "slots": slots_of(tokens, tags)}
    return utterance(fields, file, sentence.first.number, by_place=sentence.by_place)


def _turn(value: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", value):
        raise TurnNotWhole
    return int(value)


def slots_of(tokens: Sequence[str], tags: Sequence[str]) -> list[dict[str, Any]]:
    """BIO tags -> slots; an I- that continues nothing begins a slot, as in the first CoNLL sets."""
    slots: list[dict[str, Any]] = []
    begin, open_name = 0, None
    for token, tag in zip(tokens, tags, strict=True):
        parts = _tag(tag)
        if parts is None:
            raise TagsMalformed
        name, end = parts[2], begin + len(token)
        if name is not None and name == open_name and parts[1] in CONTINUES:
            slots[-1]["end"] = end
        elif name is not None:
            slots.append({"name": name, "begin": begin, "end": end})
        open_name = name if parts[1] not in ("E", "L", "S", "U") else None
        begin = end + 1
    return slots
