"""What is known of people that an attacker could want to know: labels of the corpus, and a table that the operator gives."""

from __future__ import annotations

import csv
from pathlib import Path

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.audit.material import NO_TRAITS, KnownText, Missing, Traits
from sottovoce.models.evaluation.audit.traits import traits_of
from sottovoce.models.evaluation.audit.trials import NotMeasurable
from sottovoce.models.forget.whose import part_of_utterance, speaker_token
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.audit.originals import Originals

SPEAKER = "speaker_id"


def labelled_traits(originals: Originals, secret: Secret, table: str | None = None) -> Traits | Missing:
    """Traits by person, and all that these people said, for an attacker to learn from; else why there are none.
    `table` is a CSV file with a column `speaker_id`; CorpusError where it is anything else."""
    utterances = [utterance for own in originals.values() for utterance in own]
    labels = [(part_of_utterance(secret, u).speaker, {"gender": u.gender}) for u in utterances if u.gender]
    if table is not None:
        told = [(person, own) for person, own in _read(table, secret) if person in originals]
        if not told:
            return NotMeasurable("people of the run in the table of traits (--traits); nobody there is in it")
        labels += told
    found = traits_of(labels)
    if not found:
        return NO_TRAITS
    return Traits(found, [KnownText(person, u.text) for person, own in originals.items() for u in own])


def _read(path: str, secret: Secret) -> list[tuple[str, dict[str, str]]]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"--traits {path}: cannot be read as text; expected a table in CSV") from None
    if not rows or SPEAKER not in rows[0] or len(rows[0]) < 2:
        raise CorpusError(f"--traits {path}: expected a column {SPEAKER} and one for each trait")
    return [
        (
            speaker_token(secret, row[SPEAKER]),
            {trait: label for trait, label in row.items() if trait != SPEAKER and label},
        )
        for row in rows
    ]
