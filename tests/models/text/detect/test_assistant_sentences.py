"""Sentences as people say them to an assistant, marked by hand and never tuned on."""

from pathlib import Path

import pytest

from sottovoce.models.text.detect.builder.corpora import read_examples
from sottovoce.models.text.detect.ensemble import Ensemble
from sottovoce.models.text.detect.measure import measure

SENTENCES = Path(__file__).with_name("assistant.jsonl")


@pytest.mark.slow
def test_recall_and_over_masking_are_those_of_the_docs():
    """Another processor rounds int8 scores otherwise: two words of leeway."""
    detector = Ensemble()
    detector.setup()
    found = measure(detector, read_examples(SENTENCES)).as_dict()
    assert found["utterances"] == 184
    assert found["recall"] >= 0.946 and found["over_masking"] <= 0.044
