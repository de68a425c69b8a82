"""Whose voice to give: a mix of pool speakers, drawn with the run's secret.

Srivastava et al., "Design choices for x-vector based speaker anonymization", Interspeech 2020, section 3. Candidates of
one gender are chosen by their place in the pool: anywhere (random), among the N nearest to or farthest from the source
(near, far), or in one of the largest or smallest groups (dense, sparse; Affinity Propagation). N* of them are drawn and
mixed. Random, dense and sparse look at nothing of the source, so the target cannot tell who it was drawn for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require
from sottovoce.models.speech.speakers.plda import Plda, unit
from sottovoce.models.speech.voice.clusters import affinity_clusters

PURPOSE = "voice.pseudo_speaker"
GROUPS = 10  # dense and sparse draw one of this many groups, as the paper does, and of at most half of all


class GenderUnknown(Refusal):
    code = "gender_unknown"
    allowed = "a record with gender f or m, or a job whose voice has gender: random"


class EmbeddingMissing(Refusal):
    code = "speaker_embedding_missing"
    allowed = "speech that a speaker encoder can embed, or a job whose voice has proximity: random, dense or sparse"


class Voices(Protocol):
    """What a pool must have, one row for each speaker."""

    @property
    def gender(self) -> np.ndarray:
        """[n] "f" or "m"."""

    @property
    def embedding(self) -> np.ndarray:
        """[n, d] of a speaker encoder."""

    @property
    def plda(self) -> Plda | None:
        """Trained on such embeddings."""


@dataclass(frozen=True)
class PseudoSpeakerOptions:
    """Options of every voice that takes a target from a pool. `ranked` is N of near and far, `drawn` is N*."""

    distance: Literal["plda", "cosine"] = "plda"
    proximity: Literal["random", "near", "far", "dense", "sparse"] = "dense"
    gender: Literal["random", "same", "opposite"] = "random"
    ranked: int = 40
    drawn: int = 4
    weights: Literal["random", "equal"] = "random"
    assign: Literal["slice", "utterance", "speaker"] = "utterance"

    def __post_init__(self) -> None:
        require(
            (self.drawn >= 1, "drawn: must be at least 1"),
            (self.ranked >= self.drawn, "ranked: must be at least drawn"),
        )

    @property
    def needs_source_embedding(self) -> bool:
        """Whether candidates are chosen by their distance to the source speaker, who must be embedded for it."""
        return self.proximity in ("near", "far")


class PseudoSpeakers:
    """A pool, ready to be drawn from. Groups are found once, when it is made."""

    def __init__(self, options: PseudoSpeakerOptions, pool: Voices):
        self._options, self._pool = options, pool
        genders = np.asarray(pool.gender)
        require(
            (len(genders) > 0, "pool: has no speaker"),
            (
                options.proximity == "random" or pool.embedding.shape[1] > 0,
                "proximity: this pool was built without a speaker encoder; allowed: random",
            ),
            (
                options.proximity == "random" or options.distance == "cosine" or pool.plda is not None,
                "distance: this pool has no PLDA; allowed: cosine",
            ),
        )
        self._of_gender = {
            gender: np.flatnonzero(genders == gender) for gender in ("f", "m") if (genders == gender).any()
        }
        require(
            (bool(self._of_gender), "pool: gender must be f or m"),
            (options.gender == "random" or len(self._of_gender) == 2, "gender: this pool has one; allowed: random"),
        )
        self._groups = {gender: self._groups_of(members) for gender, members in self._of_gender.items()}

    def draw(
        self,
        secret: Secret,
        key: Sequence[str],
        source_embedding: np.ndarray | None = None,
        source_gender: str | None = None,
    ) -> np.ndarray:
        """Weights [n] of the pool's speakers, summing to 1. The same secret and key give the same weights."""
        rng = secret.generator(PURPOSE, *key)
        candidates = self._candidates(self._gender(rng, source_gender), rng, source_embedding)
        chosen = rng.choice(candidates, min(self._options.drawn, len(candidates)), replace=False)
        equal = self._options.weights == "equal"
        shares = np.full(len(chosen), 1 / len(chosen)) if equal else rng.dirichlet(np.ones(len(chosen)))
        weights = np.zeros(len(self._pool.embedding))
        weights[chosen] = shares
        return weights

    def _gender(self, rng: np.random.Generator, source_gender: str | None) -> str:
        known = sorted(self._of_gender)
        if self._options.gender == "random":
            return known[int(rng.integers(len(known)))]
        source = (source_gender or "")[:1].lower()
        if source not in ("f", "m"):
            raise GenderUnknown
        return source if self._options.gender == "same" else {"f": "m", "m": "f"}[source]

    def _candidates(self, gender: str, rng: np.random.Generator, source: np.ndarray | None) -> np.ndarray:
        members, proximity = self._of_gender[gender], self._options.proximity
        if proximity == "random":
            return members
        if proximity in ("dense", "sparse"):
            groups = sorted(self._groups[gender], key=len, reverse=proximity == "dense")
            groups = groups[: min(GROUPS, -(-len(groups) // 2))]
            return groups[int(rng.integers(len(groups)))]
        if source is None:
            raise EmbeddingMissing
        affinity = self._affinity(source[None], self._pool.embedding[members])[0]
        order = np.argsort(-affinity if proximity == "near" else affinity, kind="stable")
        return members[order[: self._options.ranked]]

    def _groups_of(self, members: np.ndarray) -> list[np.ndarray]:
        if self._options.proximity not in ("dense", "sparse"):
            return []
        embeddings = self._pool.embedding[members]
        groups = affinity_clusters(self._affinity(embeddings, embeddings))
        return [members[groups == group] for group in np.unique(groups)]

    def _affinity(self, ones: np.ndarray, others: np.ndarray) -> np.ndarray:
        plda = self._pool.plda
        if self._options.distance == "cosine" or plda is None:
            return unit(ones) @ unit(others).T
        return plda.llr(plda.project(ones), plda.project(others))


def draw_key(utterance: Utterance, assign: str) -> tuple[str, ...]:
    """What a draw is keyed by. Without a speaker's name every utterance has its own target."""
    if assign == "speaker" and utterance.speaker_id:
        return ("speaker", utterance.speaker_id)
    return ("utterance", utterance.dialogue_id, utterance.id)
