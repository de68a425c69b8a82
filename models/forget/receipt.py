"""The receipt of an erasure: what was removed and where, in numbers and hashes. It names nobody.

`seal` is a keyed hash of all the rest: who holds the secret can show that a receipt is theirs and was not changed. `whom` is
a keyed hash of the ids that were given, so that they can also show whom it is for, by giving the same ids again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sottovoce.models.forget.counts import Removed
from sottovoce.models.forget.whose import Forgotten
from sottovoce.models.randomness import Secret

SEAL = "seal"


def name_of(secret: Secret, forgotten: Forgotten) -> str:
    """The same people give the same name: an erasure that was cut off is found again."""
    return secret.token("erasure", *sorted(forgotten.speakers), "and", *sorted(forgotten.dialogues))


def entry_for(secret: Secret, name: str, run_id: str, at: str) -> dict[str, str]:
    """What the commit of a run says of an erasure: that there was one, and its day. The receipt has another name in each
    run, so that two runs do not show that the same person is gone from both."""
    return {"date": at[:10], "receipt": secret.token("erasure in run", name, run_id)}


def of_run(run_id: str, removed: Removed, changes: Iterable[Mapping[str, Any]], entry: Mapping[str, str]) -> dict:
    """`changes`: path with the hash before and after; None where there is no such file."""
    return {
        "run_id": run_id,
        "entry": entry.get("receipt"),
        "utterances": removed.utterances,
        "records": dict(sorted(removed.rows.items())),
        "failures": removed.failed,
        "dialogues_touched": len(removed.turns),
        "files": list(changes),
    }


def make_receipt(
    secret: Secret, whom: str, at: str, runs: list[dict], not_searched: dict[str, str], models: list[str]
) -> dict[str, Any]:
    """`runs`: what was removed from each; `not_searched`: runs with the reason; `models`: runs whose training has read
    some of what is gone."""
    receipt = {
        "whom": whom,
        "at": at,
        "utterances": sum(run["utterances"] for run in runs),
        "records": sum(sum(run["records"].values()) for run in runs),
        "runs": runs,
        "runs_not_searched": not_searched,
        "models_to_train_anew": models,
    }
    return receipt | {SEAL: seal_of(secret, receipt)}


def seal_of(secret: Secret, receipt: Mapping[str, Any]) -> str:
    """The keyed hash of a receipt, whether or not it bears a seal already: one that differs shows a change."""
    text = json.dumps({key: value for key, value in receipt.items() if key != SEAL}, sort_keys=True)
    return secret.token("receipt", text)
