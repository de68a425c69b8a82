"""CoNLL columns: a token and its BIO slot tag on each line, `# intent = ` above, a blank line after each sentence.

Tokens are split at blanks and at the borders of slots, so that a comma after a slot stays outside of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.runs.committed_run import CommittedRun

_word = re.compile(r"\S+")


class Conll:
    """Writes the text sinks with labels as columns."""

    sinks = ("slu", "dm")
    says = (
        "A token and its BIO tag on each line, separated by a tab. slu.conll holds single sentences; in dm.conll the "
        "sentences of one dialogue share a dialogue_id, which is a fresh alias, and turn numbers its sentences."
    )

    def write(self, run: CommittedRun, sinks: Sequence[str], folder: Path, target: Path) -> dict[str, int]:
        return {f"{sink}.conll": _write_sentences(run, sink, folder / f"{sink}.conll") for sink in sinks}


def _write_sentences(run: CommittedRun, sink: str, path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for group in run.groups(sink):
            for row in group:
                for head, turn in _turns_of(row):
                    file.write(sentence(head, turn["text"], turn["slots"]))
                    count += 1
    return count


def _turns_of(row: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """What stands above each sentence, and the record that has its text and slots."""
    language = row["language"]
    if "turns" not in row:
        yield {"id": row["id"], "intent": row["intent"], "language": language}, row
        return
    for number, turn in enumerate(row["turns"], start=1):
        yield {"dialogue_id": row["id"], "turn": number, "intent": turn["intent"], "language": language}, turn


def sentence(head: Mapping[str, Any], text: str, slots: Sequence[Mapping[str, Any]]) -> str:
    """The lines of one sentence, the blank one included; `head` stands above it as comments, save what is None."""
    comments = [f"# {key} = {' '.join(str(value).split())}" for key, value in head.items() if value is not None]
    tokens = [f"{token}\t{tag}" for token, tag in tagged_tokens(text, slots)]
    return "\n".join([*comments, *tokens]) + "\n\n"


def tagged_tokens(text: str, slots: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """BIO has one tag for each token: of slots that overlap, the one that begins first is kept."""
    at = 0
    for slot in sorted(slots, key=lambda slot: (slot["begin"], -slot["end"])):
        if slot["begin"] < at:
            continue
        yield from ((token, "O") for token in _word.findall(text[at : slot["begin"]]))
        for number, token in enumerate(_word.findall(text[slot["begin"] : slot["end"]])):
            yield token, f"{'I' if number else 'B'}-{slot['name']}"
        at = slot["end"]
    yield from ((token, "O") for token in _word.findall(text[at:]))
