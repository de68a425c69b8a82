"""One utterance, one record: when the corpus holds an id twice, the first copy stays and the others are refused.

Rows of the same utterance have the same `origin`, so wherever they are grouped anyway a second copy shows by its source.
"""

from __future__ import annotations

from collections.abc import Iterable

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Failure, Source
from sottovoce.transforms.rows import Row
from sottovoce.transforms.stage import make_failure


class DuplicateId(Refusal):
    code = "duplicate_id"
    allowed = "each (dialogue_id, id) once; the first record of the corpus is kept"


def keep_first(rows: Iterable[Row], secret: Secret, stage: str) -> tuple[list[Row], list[Failure]]:
    """The rows of each origin's first source, and one failure for each further source of it."""
    rows = list(rows)
    first: dict[str, Source] = {}
    for row in rows:
        known = first.get(row.origin)
        if known is None or _order(row.source) < _order(known):
            first[row.origin] = row.source
    later = {(row.origin, row.source) for row in rows if row.source != first[row.origin]}
    failures = [
        make_failure(secret, stage, f"{origin}\0{source.file}\0{source.line}", source, DuplicateId())
        for origin, source in sorted(later, key=lambda pair: (_order(pair[1]), pair[0]))
    ]
    return [row for row in rows if row.source == first[row.origin]], failures


def _order(source: Source) -> tuple[str, int]:
    return source.file, source.line
