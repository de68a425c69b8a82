"""The attacker who knows every draw: pairs are told where rows are a speaker's own, and not where they are anybody's."""

import numpy as np
import pytest
from link_by_choice import discriminants, linked, of_unit_variance, without_phones

SPEAKERS = np.repeat(np.arange(20).astype(str), 10)


@pytest.mark.parametrize("embed", [of_unit_variance, discriminants])
def test_what_is_a_speakers_own_links_their_recordings_and_what_is_anybodys_does_not(embed):
    rng = np.random.default_rng(0)
    own, noise = rng.normal(size=(20, 8)), rng.normal(size=(200, 8))
    taught = np.isin(SPEAKERS, SPEAKERS[:100])
    for rows, low, high in ((own.repeat(10, axis=0) + 0.2 * noise, 0.0, 0.1), (noise, 0.4, 0.5)):
        made = embed(rows[taught], SPEAKERS[taught])(rows[~taught])
        assert low <= linked(made, SPEAKERS[~taught], 1, rng) <= high


def test_which_phones_were_said_does_not_count():
    """Each row is a sound, its last number the phone: means of phones are taken out."""
    one, other = np.array([[1.0, 7], [5.0, 9]]), np.array([[1.0, 7], [1.0, 7]])
    assert without_phones([one, other]).tolist() == [[0.0], [0.0]]
