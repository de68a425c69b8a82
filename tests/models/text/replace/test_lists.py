"""The lists that ship: large enough, clean, and each value in one class."""

import pytest

from sottovoce.models.text.replace.public_lists import LISTS, class_of, public_lists
from sottovoce.models.text.replace.surface import canonical


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_thousands_of_values(name):
    values = {value for key, weights in public_lists().items() if key.split("/")[0] == name for value in weights}
    assert len(values) >= 3000


@pytest.mark.parametrize("key", [key for key in public_lists() if not key.endswith("/words")])
def test_values_are_canonical_with_positive_weights(key):
    assert all(value == canonical(value) and weight > 0 for value, weight in public_lists()[key].items())
    assert len(public_lists()[key]) >= 3


def test_each_value_stands_in_one_class():
    for name, classes in class_of().items():
        keys = [key for key in public_lists() if key.startswith(f"{name}/") and not key.endswith("/words")]
        assert sum(len(public_lists()[key]) for key in keys) == len(classes)
