"""Seventy sentences with known spans, and what every strategy makes of them: `golden_table/table.md` is for people to read.

`python tests/models/text/test_golden_table.py` writes it anew. The spans are marked by hand, so only replacement shows here.
"""

import re
from pathlib import Path

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.text import chain
from sottovoce.models.text.replace import TABLE

FOLDER = Path(__file__).with_name("golden_table")
_MARKED = re.compile(r"<([A-Z]+) ([^>]+)>")


def read(line, number):
    text, spans, at = "", [], 0
    for match in _MARKED.finditer(line):
        text += line[at : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), match[1]))
        text, at = text + match[2], match.end()
    return Utterance(f"u{number}", f"d{number}", 0, text + line[at:], Source("f", number + 1), spans=tuple(spans))


def table():
    lines = (FOLDER / "sentences.txt").read_text("utf-8").splitlines()
    said = [read(line, number) for number, line in enumerate(lines)]
    rows = [["said", *TABLE], ["---"] * (1 + len(TABLE))]
    members = [read_spec("replace", name).make() for name in TABLE]
    rows += [[one.text, *(chain.replaced(member, one, Secret(b"t" * 32)).text for member in members)] for one in said]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def test_sentences_become_what_they_became():
    assert table() == (FOLDER / "table.md").read_text("utf-8")


if __name__ == "__main__":
    (FOLDER / "table.md").write_text(table(), "utf-8")
