"""Which members make their stage ask for a GPU."""

import pytest

from sottovoce.transforms.engine.hints import wants_gpu


@pytest.mark.parametrize(
    "options,asks",
    [
        ({}, False),
        ({"device": "auto"}, False),
        ({"device": "cpu"}, False),
        ({"device": "cuda"}, True),
        ({"device": "cuda:1"}, True),
        ({"members": ["rules", {"use": "hf", "device": "cuda"}]}, True),
        ({"members": ["rules", {"use": "hf", "device": "auto"}]}, False),
        ({"words": ("cuda",)}, False),
    ],
)
def test_only_a_member_told_to_use_a_gpu_asks_for_one(options, asks):
    assert wants_gpu(options) is asks
