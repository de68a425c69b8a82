"""What the detector misses is told where the replacement is accounted for."""

import pytest

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.settings import read_spec

MEASURED = {"snips": {"recall": 0.97}, "atis": {"recall": 0.93}}


def detector(measured):
    return LedgerEntry("detect", "tagger", "finds", ("what it misses",), parameters={"measured": measured})


@pytest.mark.parametrize("name", ["typed", "full"])
def test_the_lowest_measured_recall_gives_the_fraction_in_clear(name):
    entry = read_spec("replace", name).make().ledger(detector(MEASURED))
    assert entry.parameters["recall"] == 0.93 and entry.parameters["recall_on"] == "atis"
    assert entry.parameters["fraction_in_clear"] == pytest.approx(0.07)


def test_a_recall_that_the_job_states_is_kept():
    stated = read_spec("replace", {"use": "full", "recall": 0.5, "recall_on": "ours"}).make()
    assert stated.ledger(detector(MEASURED)).parameters["recall"] == 0.5


def test_without_a_measurement_the_ledger_says_so():
    entry = read_spec("replace", "full").make().ledger(detector({}))
    assert entry.parameters["recall"] == "not stated"
