"""Attacks that measure what a released model or data set still gives away.

Attackers on voices stand in a table: `sottovoce evaluate voice` lets every one of them try. An attack that fails proves
nothing; one that succeeds is a lower bound on what leaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from sottovoce.models.evaluation.attacks.speaker_linkage import Recordings, Split

TABLE = {
    "ignorant": "sottovoce.models.evaluation.attacks.speaker_linkage:Ignorant",
    "lazy": "sottovoce.models.evaluation.attacks.speaker_linkage:Lazy",
    "semi-informed": "sottovoce.models.evaluation.attacks.speaker_linkage:SemiInformed",
    "informed": "sottovoce.models.evaluation.attacks.speaker_linkage:Informed",
}


class VoiceAttacker(Protocol):
    """Built without arguments. May look at everything in `recordings` but the speakers of the test utterances."""

    def scores(self, recordings: Recordings, split: Split, count: int) -> Iterator[tuple[str, np.ndarray]]:
        """(name of the score, scores [enrolled speakers, tested speakers, trials]); higher: more likely the same speaker.

        `count` test utterances of one speaker are taken together to a trial; NaN where two were never compared.
        """
