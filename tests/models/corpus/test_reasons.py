import re
from pathlib import Path

import pytest

from sottovoce.models.corpus import TABLE
from sottovoce.models.corpus.fields import KEYS
from sottovoce.models.corpus.layout import patterns_of
from sottovoce.models.corpus.reasons import REASONS

PAGE = (Path(__file__).parents[3] / "docs" / "input.md").read_text(encoding="utf-8")


def test_the_page_lists_every_reason_with_what_is_accepted_and_no_other():
    listed = dict(re.findall(r"^\| `([a-z0-9_]+)` \| (.+) \|$", PAGE.partition("## Reasons")[2], re.M))
    assert listed == {code: reason.allowed.replace("|", r"\|") for code, reason in REASONS.items()}


def test_the_page_names_every_key_and_every_file_pattern():
    for word in (*KEYS, *(pattern for name in TABLE for pattern in patterns_of(name) if pattern != "*.pq")):
        assert f"`{word}`" in PAGE or word == "*.arrow"


@pytest.mark.parametrize("reason", REASONS.values())
def test_a_reason_is_a_fixed_code_and_says_what_is_accepted(reason):
    assert re.fullmatch("[a-z0-9_]+", reason.code) and reason.allowed
    assert str(reason()) == reason.code
