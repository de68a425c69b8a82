"""Several detectors as one."""

import pytest
from any_text import any_text, check_spans
from hypothesis import HealthCheck, given, settings

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import read_spec
from sottovoce.models.text.detect.ensemble import Ensemble
from sottovoce.models.text.detect.rules import Rules

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def united(tiny_tagger):
    made = Ensemble(
        detectors=(
            "rules",
            {"use": "tagger", "model": str(tiny_tagger)},
            {"use": "gazetteer", "entries": {"PER": ["mercury"]}},
        )
    )
    made.setup()
    return made


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_text)
def test_whatever_a_member_covers_the_ensemble_covers(united, text):
    spans = united.detect([text])[0]
    check_spans(text, spans)
    covered = {at for span in spans for at in range(span.begin, span.end)}
    for member in united._members:
        assert {at for span in member.detect([text])[0] for at in range(span.begin, span.end)} <= covered


def test_members_find_what_the_others_do_not(united):
    text = "my name is elena not mercury or jo@example.org"
    assert [(text[s.begin : s.end], s.type) for s in united.detect([text])[0]] == [
        ("elena", "PER"), ("mercury", "PER"), ("jo@example.org", "EMAIL"),
    ]  # fmt: skip


def test_the_default_is_rules_and_tagger():
    detector = read_spec("detect", "default").make()
    assert detector.detectors == ("rules", "tagger")
    assert isinstance(detector._members[0], Rules)
    entry = detector.ledger()
    assert entry.mechanism == "rules + tagger"
    assert entry.parameters["measured"]
    assert "names of people, places and organisations: rules do not find them" not in entry.not_protected


@pytest.mark.parametrize("detectors", [(), ("rules", "no_such"), ({"use": "rules", "bad": 1},)])
def test_bad_members_are_settings_errors(detectors):
    with pytest.raises(SettingsError):
        Ensemble(detectors=detectors)
