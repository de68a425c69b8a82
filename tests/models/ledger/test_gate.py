"""The gate fails closed: a figure that is asked for and missing closes it."""

import math

import pytest
from committed_run import detector, replacement

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.book import from_json, open_book, to_json
from sottovoce.models.ledger.gate import Gate
from sottovoce.models.settings import build

COUNTS = {"read": 100, "failed": 5}
HELD = {"held": True, "reasons": [], "results": []}


def ledger(*entries):
    return from_json(to_json(open_book("run-1", "2025-01-01", entries, ["the number of examples"])))


def failed(gate, counts=COUNTS, book=None, audit=HELD, private=True):
    checks = gate.judge(counts, ledger() if book is None else book, audit, private)
    return [check.name for check in checks if check.passed is False]


@pytest.mark.parametrize(("limit", "closed"), [(0.05, []), (0.049, ["failures"]), (None, [])])
def test_share_of_failures(limit, closed):
    assert failed(Gate(max_failed_share=limit)) == closed


def test_a_run_that_read_nothing_does_not_pass():
    assert failed(Gate(), {"read": 0, "failed": 0}) == ["failures"]
    assert failed(Gate(), {}) == ["failures"]


@pytest.mark.parametrize(
    ("measured", "named", "closed"),
    [
        ({"snips": 0.95}, None, []),
        ({"snips": 0.949}, None, ["recall"]),
        ({"snips": 0.97, "atis": 0.9}, None, ["recall"]),
        ({"snips": 0.97, "atis": 0.9}, "snips", []),
        ({"snips": 0.97}, "atis", ["recall"]),
        ({}, None, ["recall"]),
    ],
)
def test_detector_recall_by_the_lower_end_on_the_named_or_the_worst_set(measured, named, closed):
    gate = Gate(min_detector_recall=0.95, recall_set=named)
    assert failed(gate, book=ledger(detector(**measured))) == closed


def test_recall_that_the_shipped_detectors_state_is_understood():
    """No fixture of ours: the entries that the detectors themselves write."""
    from sottovoce.models.ledger.gate import detector_recall
    from sottovoce.models.settings import read_spec, table

    entries = [read_spec("detect", name).make().ledger() for name in ("rules", "tagger") if name in table("detect")]
    for entry in entries:
        measured = entry.parameters.get("measured")
        recall = detector_recall(ledger(entry), None)
        assert recall is None if not measured else 0 < recall < 1


def test_sound_epsilon_of_all_mechanisms_is_composed():
    book = ledger(replacement({"utterance": 3.0}), replacement({"utterance": 2.0, "unit": 1.0}))
    assert failed(Gate(max_epsilon={"utterance": 5.0}), book=book) == []
    assert failed(Gate(max_epsilon={"utterance": 4.9}), book=book) == ["epsilon per utterance"]


def test_infinite_and_missing_epsilon_close_the_gate():
    book = ledger(replacement({"utterance": math.inf}))
    assert failed(Gate(max_epsilon={"utterance": 1e9, "speaker": 1e9}), book=book) == [
        "epsilon per utterance",
        "epsilon per speaker",
    ]


def test_a_run_that_was_not_attacked_or_did_not_hold_closes_the_gate():
    assert failed(Gate(), audit={}) == ["audit"]
    assert failed(Gate(), audit={"held": False, "reasons": ["singling_out (slu): risk at most 0.6; allowed: 0.2"]}) == [
        "audit"
    ]
    assert failed(Gate(), audit={"held": True, "reasons": ["a file that contradicts itself"]}) == ["audit"]
    assert failed(Gate(audit=False), audit={}) == []


def found(*risks, verdict="held"):
    rows = [
        {"attack": "singling_out", "verdict": verdict, "risk": {"value": 0.0, "low": 0.0, "high": r}} for r in risks
    ]
    return HELD | {"results": rows}


def test_an_attack_counts_by_the_upper_end_of_its_interval_wherever_it_was_tried():
    gate = Gate(max_audit={"singling_out": 0.1})
    assert failed(gate, audit=found(0.05, 0.1)) == []
    assert failed(gate, audit=found(0.05, 0.11)) == ["audit singling_out"]
    assert failed(gate, audit=HELD) == ["audit singling_out"]
    unmeasured = {"attack": "singling_out", "verdict": "not measurable", "why": "needs more"}
    assert failed(gate, audit=HELD | {"results": [*found(0.05)["results"], unmeasured]}) == ["audit singling_out"]
    assert (
        failed(
            gate, audit=found(0.05) | {"results": [*found(0.05)["results"], unmeasured | {"verdict": "not applicable"}]}
        )
        == []
    )


def test_what_others_found_is_asked_by_its_name():
    gate = Gate(max_audit={"membership_auc": 0.6})
    assert failed(gate, audit=HELD | {"others": {"membership_auc": {"value": 0.5, "low": 0.45, "high": 0.55}}}) == []
    assert failed(gate, audit=HELD | {"others": {"membership_auc": {"value": 0.5, "low": 0.3, "high": 0.7}}}) != []
    assert failed(gate, audit=HELD | {"others": {"membership_auc": 0.5}}) == ["audit membership_auc"]


def test_what_was_not_asked_is_said():
    checks = Gate(audit=False).judge(COUNTS, ledger(), {}, private=True)
    says = [check.says for check in checks if check.passed is None]
    assert says == ["not asked (min_detector_recall)", "not asked (max_epsilon)", "not asked (audit)"]


def test_every_bad_threshold_is_named():
    with pytest.raises(SettingsError) as error:
        build(Gate, {"max_failed_share": 2, "min_detector_recall": -1, "max_epsilon": {"utterance": -1}}, "gate")
    assert [problem.split(":")[0] for problem in error.value.problems] == [
        "gate.max_failed_share",
        "gate.min_detector_recall",
        "gate.max_epsilon",
    ]


@pytest.mark.parametrize(
    ("book", "closed"),
    [
        ([replacement({"unit": 0.0, "speaker": 8.0})], []),
        ([replacement({"unit": 3.0, "speaker": math.inf})], ["epsilon"]),
        ([detector(atis=0.9)], ["epsilon"]),  # nothing is known of the texts
    ],
)
def test_training_without_privacy_of_its_own_needs_texts_that_have_some(book, closed):
    assert failed(Gate(), book=ledger(*book), private=False) == closed
    assert failed(Gate(), book=ledger(*book), private=True) == []


def test_the_operator_may_name_what_is_allowed():
    book = ledger(replacement({"unit": 3.0, "speaker": math.inf}))
    assert failed(Gate(max_epsilon={"unit": 3.0}), book=book, private=False) == []
    assert failed(Gate(max_epsilon={"speaker": 1e9}), book=book, private=False) == ["epsilon per speaker"]
