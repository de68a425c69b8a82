import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import FAMILIES, Spec, member_class, read_spec, table

MEMBERS = [(family, name) for family in FAMILIES for name in table(family)]
NEEDS_MODEL = {"flair", "hf", "ctc", "speecht5", "gazetteer", "llm", "vosk"}


@pytest.mark.parametrize("family,name", [pair for pair in MEMBERS if pair[1] not in NEEDS_MODEL])
def test_every_row_of_every_table_is_built_and_speaks_for_itself(family, name):
    """The law of the tables: a new row is tested by this line."""
    member = Spec(family, name).make()
    entry = member.ledger()
    assert entry.says and entry.not_protected and entry.stage == family
    assert callable(member.setup)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unknown_member_or_option_is_named_with_what_is_allowed(family):
    with pytest.raises(SettingsError, match="allowed: .*" + next(iter(table(family)))):
        read_spec(family, "no such thing")
    with pytest.raises(SettingsError, match="no_such_option: unknown key; allowed"):
        read_spec(family, {"use": next(iter(table(family))), "no_such_option": 1})


def test_members_are_found_by_import_string():
    assert member_class("mask", "silence").__name__ == "Silence"
