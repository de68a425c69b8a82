"""The book of a run: the entries of its mechanisms become `ledger.json`, and are checked on the way.

Nothing is called private that is not. So an entry without a word on what it does not protect is refused, a paper's
figure may not stand without the sound one, a finite epsilon needs its adjacency (a figure that does not say which two
inputs it compares means nothing), and an infinite one is written "inf" beside its reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.ledger.entries import LedgerEntry

RELEASED_AS_SAID = (
    "the language of each record, where the corpus states it",
    "where each sensitive stretch stood and of which kind it was, wherever the replacement shows it",
)

RELEASED_BY_COUNTS = (
    "the counts of this run: records read, dialogues, failures by reason, seconds of speech and of each stage, how many "
    "labelled slots of each type there are and how many the detector had missed, and of each data set how many sensitive "
    "stretches of each type, records of each released label and words it was given",
)

RELEASED_BY_A_CROWD = ("that there was a run, when it was committed, and its settings",)

NOT_PROTECTED_AS_SAID = (
    "what the detectors miss: it is published as it was said, and no figure below covers it",
    "what a whole sentence gives away without naming anybody: a rare illness, a job, an event in the news",
    "that records of one person may be recognised as alike by their wording or their topic",
)

NOT_PROTECTED_BY_ANY_RUN = (
    "the corpus against whoever holds the secret of the run: every draw can be repeated with it",
)


def open_book(
    run_id: str, created: str, entries: Iterable[LedgerEntry], released: Iterable[str], as_said: bool = True
) -> dict[str, Any]:
    """The content of `ledger.json`; `released` is what the sinks of the run say that a reader learns exactly. `as_said`: a
    record of the run is a record of the corpus with some words changed, and not what a crowd has in common.

    Raises SettingsError with every fault of every entry.
    """
    unique: list[LedgerEntry] = []
    for entry in entries:
        if entry not in unique:  # a member that serves several sinks is one mechanism
            unique.append(entry)
    problems = [problem for entry in unique for problem in faults_of(entry)]
    if problems:
        raise SettingsError(problems)
    return {
        "run_id": run_id,
        "created": created,
        "released_exactly": list(
            dict.fromkeys([*released, *((*RELEASED_AS_SAID, *RELEASED_BY_COUNTS) if as_said else RELEASED_BY_A_CROWD)])
        ),
        "not_protected": [*(NOT_PROTECTED_AS_SAID if as_said else ()), *NOT_PROTECTED_BY_ANY_RUN],
        "mechanisms": [_row_of(entry) for entry in unique],
    }


def faults_of(entry: LedgerEntry) -> list[str]:
    """What keeps an entry out of the book, in words; empty for a good one."""
    where = f"ledger of {entry.stage or '?'}.{entry.mechanism or '?'}"
    checks = [
        (bool(entry.stage and entry.mechanism), "stage and mechanism must be named"),
        (bool(entry.says.strip()), "says: must tell in plain words what it does"),
        (bool(entry.not_protected), "not_protected: must name at least one thing"),
        (entry.paper is None or entry.sound is not None, "paper: may not stand without the sound figure"),
        (not _has_finite(entry.sound) or bool(entry.adjacency), "sound: a finite epsilon needs its adjacency"),
    ]
    faults = [f"{where}: {message}" for holds, message in checks if not holds]
    for name, figures in (("paper", entry.paper), ("sound", entry.sound)):
        for unit, epsilon in (figures or {}).items():
            if math.isnan(epsilon) or epsilon < 0:
                faults.append(f"{where}: {name}.{unit}: {epsilon} is not an epsilon; allowed: 0 to infinity")
    try:
        json.dumps(_plain(entry.parameters), allow_nan=False)
    except (TypeError, ValueError):
        faults.append(f"{where}: parameters: allowed are text, numbers, true, false, null, lists and mappings of them")
    return faults


def to_json(book: Mapping[str, Any]) -> str:
    """The text of `ledger.json`. ValueError where a number is NaN or infinite."""
    return json.dumps(book, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str) -> dict[str, Any]:
    """A book as `open_book` made it, with the figures as numbers again ("inf" is infinity)."""
    try:
        book = json.loads(text)
        for row in book["mechanisms"]:
            for name in ("paper", "sound"):
                if row[name] is not None:
                    row[name] = {unit: float(epsilon) for unit, epsilon in row[name].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RunError("ledger.json is damaged: expected the file that the run wrote") from None
    return book


def _row_of(entry: LedgerEntry) -> dict[str, Any]:
    figures = [*(entry.paper or {}).values(), *(entry.sound or {}).values()]
    return {
        "stage": entry.stage,
        "mechanism": entry.mechanism,
        "says": entry.says,
        "not_protected": list(entry.not_protected),
        "parameters": _plain(entry.parameters),
        "adjacency": entry.adjacency,
        "assumptions": list(entry.assumptions),
        "paper": _plain(entry.paper),
        "sound": _plain(entry.sound),
        # An entry that gives no reason of its own has told it in its plain words.
        "infinite_because": (entry.infinite_because or entry.says) if math.inf in figures else None,
    }


def _has_finite(figures: Mapping[str, float] | None) -> bool:
    return any(math.isfinite(epsilon) for epsilon in (figures or {}).values())


def _plain(value: Any) -> Any:
    """JSON has no infinity: it is written as the string "inf"."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return "inf" if isinstance(value, float) and value == math.inf else value
