"""HEALTH is found where a job asks for it, and not otherwise."""

import pytest

from sottovoce.models.settings import read_spec
from sottovoce.models.text.detect.health import Health


@pytest.fixture(scope="module")
def health():
    made = Health()
    made.setup()
    return made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i have type two diabetes and high blood pressure", ["diabetes", "high blood pressure"]),
        ("her Crohn's came back after the heart attack", ["Crohn's", "heart attack"]),
        ("it is cold and i am under stress", []),
        ("a taco in my back garden", []),
    ],
)
def test_conditions_are_found_and_ordinary_words_are_not(health, text, words):
    found = health.detect([text])[0]
    assert [text[span.begin : span.end] for span in found] == words
    assert {span.type for span in found} <= {"HEALTH"} == health.finds()


def test_a_job_can_switch_it_on_beside_the_others():
    made = read_spec("detect", {"use": "ensemble", "detectors": ["rules", "health"]}).make()
    made.setup()
    assert [span.type for span in made.detect(["asthma since monday"])[0]] == ["HEALTH", "DATE"]
    assert "HEALTH" not in read_spec("detect", "default").make().finds()
