"""Tags of any scheme and under other people's names."""

import pytest

from sottovoce.models.text.detect.type_names import renamed


@pytest.mark.parametrize(
    ("tags", "labels"),
    [
        ("B-GPE I-GPE O", "B-LOC I-LOC O"),
        ("B-person E-person S-loc", "B-PER I-PER B-LOC"),
        ("U-PERSON L-ORG", "B-PER I-ORG"),
        ("PER PER O", "I-PER I-PER O"),
        ("PER-B PER-I _", "B-PER I-PER O"),
        ("B_corporation M_geo-loc", "B-ORG I-LOC"),
        ("B-kundennr", "B-kundennr"),
    ],
)
def test_a_scheme_becomes_bio_and_names_become_ours(tags, labels):
    assert renamed(tags.split(), {}) == labels.split()


def test_a_name_can_be_given_a_type_or_none():
    assert renamed(["B-film", "I-film", "B-stop"], {"film": "O", "stop": "LOC"}) == ["O", "O", "B-LOC"]
