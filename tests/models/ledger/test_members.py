"""One law for every member of every table: what it says of itself may be written into the ledger."""

import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.settings import FAMILIES, Spec, table

MEMBERS = [(family, name) for family in FAMILIES for name in table(family)]


@pytest.mark.parametrize(("family", "name"), MEMBERS, ids="-".join)
def test_a_member_claims_no_more_than_it_shows(family, name):
    try:
        member = Spec(family, name).make()
    except SettingsError:
        pytest.skip("needs an option that has no default")
    entry = member.ledger()
    assert faults_of(entry) == []
    assert entry.stage == family
