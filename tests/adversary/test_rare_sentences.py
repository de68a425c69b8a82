"""Attacker: reads released texts for names that no detector found, and for sentences that one person alone would say.

Replacement lets both through: what is not marked stays as it was said. Crowd release (`rewrite: crowd`) claims that they do
not go out, nor the name of an intent that one speaker alone has.
"""

from __future__ import annotations

import pytest
from adversary import Operator, Released, as_outsider, weakened

pytestmark = pytest.mark.slow
CROWD = ("--set", "rewrite=crowd", "--set", "sinks={slu: 1}", "--set", "detect=rules")
MISSED = ("xochiquetzal", "tlalocan", "only_hers")  # a name, a place and an intent: no rule knows them


def corpus() -> list[dict]:
    crowd = [
        {"id": f"{i}", "dialogue_id": f"d{i}", "speaker_id": f"s{i}", "text": "what is the news", "intent": "news"}
        for i in range(60)
    ]
    hers = {"id": "h", "dialogue_id": "h", "speaker_id": "her"}
    said = "xochiquetzal has to be at the clinic in tlalocan again"
    return [*crowd, hers | {"text": said, "intent": "only_hers"}]


def attack(released: Released) -> set[str]:
    content = b"".join(released.files().values()).decode("utf-8", "replace")
    texts = " ".join(str(row) for row in released.rows("slu"))
    return {word for word in MISSED if word in content or word in texts}


def test_without_a_threshold_she_is_read(tmp_path):
    operator = Operator(tmp_path)
    with weakened("a threshold", {"sottovoce.models.text.replace.private_counts:_threshold": lambda settings: -100.0}):
        theirs = operator.release(corpus(), *CROWD)
    assert as_outsider(attack, theirs) == set(MISSED)


def test_what_one_person_alone_says_does_not_go_out(tmp_path):
    ours = Operator(tmp_path).release(corpus(), *CROWD)
    assert as_outsider(attack, ours) == set() and len(ours.rows("slu")) > 20
