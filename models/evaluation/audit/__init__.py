"""Attacks on a committed run: what somebody who has it, and a little more, can find out of the people in it.

An attack gives trials: each is one guess of the attacker, right or not, beside the chance that a guess without the release
would have been right (the control). So every attack is told in the same figures: attack rate, control rate, and
risk = (attack - control) / (1 - control), with intervals over people (`trials.py`). An attacker that fails proves nothing
unless it can win, so each brings two small releases of its own, one that leaks nothing and one that leaks by design, and
is tried on both whenever it is used. `sottovoce audit` runs every row (docs/audit.md says how each is measured).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from sottovoce.models.evaluation.audit.material import Material
    from sottovoce.models.evaluation.audit.trials import Outcome

TABLE = {
    "dialogues_by_words": "sottovoce.models.evaluation.audit.by_words:DialoguesByWords",
    "speakers_by_words": "sottovoce.models.evaluation.audit.by_words:SpeakersByWords",
    "speakers_across_sinks": "sottovoce.models.evaluation.audit.by_words:SpeakersAcrossSinks",
    "singling_out": "sottovoce.models.evaluation.audit.singling_out:SinglingOut",
    "speakers_by_voice": "sottovoce.models.evaluation.audit.by_voice:SpeakersByVoice",
    "speakers_by_voice_and_words": "sottovoce.models.evaluation.audit.by_voice_and_words:SpeakersByVoiceAndWords",
    "large_population": "sottovoce.models.evaluation.audit.large_population:LargePopulation",
    "neighbouring_slices": "sottovoce.models.evaluation.audit.neighbours:NeighbouringSlices",
    "canary_words": "sottovoce.models.evaluation.audit.by_canaries:CanaryWords",
    "canary_sound": "sottovoce.models.evaluation.audit.by_canaries:CanarySound",
    "masked_names": "sottovoce.models.evaluation.audit.masked_names:MaskedNames",
    "canary_voices": "sottovoce.models.evaluation.audit.by_canaries:CanaryVoices",
    "canaries_joined": "sottovoce.models.evaluation.audit.by_canaries:CanariesJoined",
    "masked_words": "sottovoce.models.evaluation.audit.masked_words:MaskedWordsAttack",
    "traits_by_words": "sottovoce.models.evaluation.audit.traits:TraitsByWords",
    "traits_by_voice": "sottovoce.models.evaluation.audit.traits:TraitsByVoice",
    "canaries_in_training": "sottovoce.models.evaluation.audit.trained_canaries:CanariesInTraining",
    "membership": "sottovoce.models.evaluation.audit.membership:MembersOfTraining",
}

# The three criteria of Opinion 05/2014 of the Article 29 Working Party on anonymisation techniques.
Criterion = Literal["singling out", "linkability", "inference"]


class AuditAttack(Protocol):
    """Built without arguments. May look at everything that the material says an attacker has; the truth only judges."""

    criterion: ClassVar[Criterion]
    says: ClassVar[str]  # what the attacker has and does, for the officer's page
    max_risk: ClassVar[float]  # what the upper end of the risk may reach, unless the job says otherwise

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        """By where in the release: the name of a sink, or words for several."""

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        """A release that tells this attacker nothing: it must be at chance there."""

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        """A release that tells it all: it must come near its ceiling there."""
