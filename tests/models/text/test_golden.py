"""One folder a language: records as they come in, and what detection and each strategy make of them, word for word.

A change of rules, weights or lists shows here. `python tests/models/text/test_golden.py` writes the folders anew.
"""

import json
from pathlib import Path

import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.text import chain
from sottovoce.models.text.detect import TAGGED

FOLDER = Path(__file__).with_name("golden")
STRATEGIES = ("typed", "word", "full", "consistent")


def made(code):
    """[{text, typed, word, full, consistent}] of the records of a language."""
    lines = (FOLDER / code / "records.txt").read_text("utf-8").splitlines()
    said = [Utterance(f"u{at}", "d", at, line, Source("f", at + 1), language=code) for at, line in enumerate(lines)]
    detector = read_spec("detect", "default").make()
    detector.setup()
    found = chain.detected(detector, said)
    members = {name: read_spec("replace", name).make() for name in STRATEGIES}
    return [
        {"text": one.text}
        | {name: chain.replaced(member, one, Secret(b"g" * 32)).text for name, member in members.items()}
        for one in found
    ]


def test_every_language_has_a_folder():
    assert {folder.name for folder in FOLDER.iterdir()} == set(TAGGED)


@pytest.mark.parametrize("code", TAGGED)
def test_records_become_what_they_became(code):
    assert made(code) == json.loads((FOLDER / code / "expected.json").read_text("utf-8"))


if __name__ == "__main__":
    for language in TAGGED:
        text = json.dumps(made(language), ensure_ascii=False, indent=1) + "\n"
        (FOLDER / language / "expected.json").write_text(text, "utf-8")
