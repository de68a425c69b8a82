"""ADePT (Krishna et al. 2021): encode an utterance, clip the vector, add noise, decode; and what that gives when it is sound.

The mathematics stands in `latent_noise.py`. Sound: Laplace noise on a vector clipped in L1 (two utterances are then at most 2 C
apart in L1), or Gaussian noise by the exact condition on one clipped in L2. Paper: clipped in L2, Laplace of scale
2 C / epsilon or Gaussian by the usual formula, with the paper's claim beside what holds. Either way the mechanism is local: any
two utterances, intent and slots included, and k utterances of a person cost k epsilon. It needs a decoder that has not read
the corpus: one trained on it can say by heart what no noise has touched, and then there is no guarantee at all; unless it was
trained with differential privacy. Let its card say (e, d). One utterance that becomes another is one example removed and one
added: (2 e, (1 + exp(e)) d) where the card counts adding and removing, (e, d) where it counts replacing. By composition of
the decoder with the noise the utterance has epsilon + 2 e, and the deltas add up.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.ledger.gaussian import gaussian_sigma
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import require
from sottovoce.models.text.rewrite import RewritesEach, autoencoder
from sottovoce.models.text.rewrite.latent_noise import LatentNoise

LARGEST_EPSILON = 1e4


class NothingDecoded(Refusal):
    code = "nothing_decoded"
    allowed = "an utterance that the rewriter's decoder says something for"


@dataclass(frozen=True)
class Adept(RewritesEach):
    """`epsilon` (and `delta`, for Gaussian noise) are of one utterance, against any other. `beam: 1` decodes greedily.

    `model` is a folder that `sottovoce build rewriter` wrote; without it, the rewriter that ships, trained on public data.
    """

    epsilon: float = 50.0
    delta: float = 1e-6
    noise: Literal["gaussian", "laplace"] = "gaussian"
    mode: Literal["sound", "paper"] = "sound"
    clip: float = 1.0
    beam: int = 1
    model: str | None = None

    def __post_init__(self) -> None:
        require(
            (0 < self.epsilon <= LARGEST_EPSILON, f"epsilon: {self.epsilon:g} must lie in (0, {LARGEST_EPSILON:g}]"),
            (0 < self.delta < 0.1, f"delta: {self.delta:g} must lie between 0 and 0.1"),
            (self.clip > 0, "clip: must be above 0"),
            (1 <= self.beam <= 16, f"beam: {self.beam} must lie in [1, 16]"),
        )

    def setup(self) -> None:
        autoencoder.load(self.model)

    def rewrite(self, utterance: Utterance, secret: Secret) -> Utterance:
        (made,) = self.rewrite_all([utterance], secret)
        if made is None:
            raise NothingDecoded
        return made

    def rewrite_all(self, utterances: Sequence[Utterance], secret: Secret) -> list[Utterance | None]:
        """Many at once, which is quicker; None where nothing was decoded."""
        coder = autoencoder.load(self.model)
        vectors = coder.encode([autoencoder.tokens_of(one) for one in utterances])
        for one, vector in zip(utterances, vectors, strict=True):
            vector[:] = self.noisy(vector, self.draw_for(one, secret))
        made: list[Utterance | None] = []
        for one, tokens in zip(utterances, coder.decode(vectors, self.beam), strict=True):
            text, intent, slots = autoencoder.text_of(tokens)
            new = dataclasses.replace(one, text=text, intent=intent, slots=slots, spans=()) if text else None
            made.append(new)
        return made

    def draw_for(self, one: Utterance, secret: Secret) -> np.random.Generator:
        """The same whenever it is rewritten again; of its own for other settings, and for other labels of the text: noise that
        two outputs had in common would cancel out between them."""
        return secret.generator("adept", repr(self), one.dialogue_id, one.id, *autoencoder.tokens_of(one))

    def noisy(self, vector: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Clipped, with noise, and put back into the ball: a decoder knows nothing outside it, and what is done to a vector
        after the noise costs nothing."""
        vector = _clipped(vector, self.clip, 1 if self._clips_in_l1 else 2)
        if self.noise == "laplace":
            vector = vector + draw.laplace(scale=2 * self.clip / self.epsilon, size=vector.shape)
        else:
            vector = vector + draw.normal(scale=self._sigma, size=vector.shape)
        return _clipped(vector, self.clip, 2)

    @property
    def _clips_in_l1(self) -> bool:
        return self.noise == "laplace" and self.mode == "sound"

    @property
    def _sigma(self) -> float:
        if self.mode == "paper":
            return LatentNoise(self.clip, 1, self.epsilon, self.delta).gauss_sigma_classic
        return gaussian_sigma(self.epsilon, self.delta, 2 * self.clip)

    def cost(self) -> float:
        return self._sound()[0]

    def _sound(self) -> tuple[float, float]:
        """(epsilon, delta) of one utterance; infinite where the decoder has read what is not public, and nothing bounds it."""
        card = autoencoder.card_of(self.model)
        of_decoder = (0.0, 0.0) if card.get("public") else _of_private_training(card.get("privacy"))
        epsilon, delta = self._of_noise(int(card["recipe"]["dimension"])) if card else (self.epsilon, self.delta)
        return epsilon + of_decoder[0], delta + of_decoder[1]

    def _of_noise(self, dimension: int) -> tuple[float, float]:
        if self.noise == "laplace":
            paper = LatentNoise(self.clip, dimension, self.epsilon, self.delta).epsilon_of_paper_laplace
            return (self.epsilon if self.mode == "sound" else paper), 0.0
        if self.mode == "sound":
            return self.epsilon, self.delta
        return _epsilon_of(self._sigma, self.delta, 2 * self.clip), self.delta

    def serves(self, sink: str, from_text: bool) -> str | None:
        return None

    def released(self, sinks: Sequence[str]) -> tuple[str, ...]:
        return (
            f"of {', '.join(sinks)}: how many utterances there are, and of dialogues the number and order of their turns",
        )

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        card, (epsilon, delta) = autoencoder.card_of(self.model), self._sound()
        parameters: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "model"}
        read = "the decoder was trained on data that is not public: it can say by heart what it has read"
        per_person = "a person's utterances add up: k of them cost k epsilon, and their number is not bounded here"
        return LedgerEntry(
            stage="rewrite",
            mechanism="adept",
            says="Each utterance, with its intent and slots, was encoded to a vector, which was clipped, got noise, and was "
            "decoded to another utterance."
            + (" No guarantee: " + read + "." if math.isinf(epsilon) else _of_decoder(card)),
            not_protected=(
                "how many utterances a speaker has, and in which sink and dialogue they stand",
                per_person,
                "utterances themselves, at an epsilon of this size, against whoever guesses at them"
                if epsilon > 10
                else "what many utterances of one person tell together",
            ),
            parameters=parameters
            | {
                "trained_on": card.get("trained_on", "not known"),
                "public": bool(card.get("public")),
                "delta_in_all": delta,
            },
            adjacency="one utterance, intent and slots included, becomes any other",
            assumptions=(
                "the vocabulary and the clip do not depend on the corpus"
                + (", nor does the auto-encoder" if card.get("public") else ""),
                "the secret of the run is not known to the reader: noise is keyed by it",
            ),
            paper={"utterance": self.epsilon} if self.mode == "paper" else None,
            sound={"utterance": epsilon, "speaker": math.inf},
            infinite_because=read if math.isinf(epsilon) else per_person,
        )


def _clipped(vector: np.ndarray, radius: float, order: int) -> np.ndarray:
    return vector * min(1.0, radius / max(float(np.linalg.norm(vector, order)), 1e-12))


def _of_private_training(privacy: Mapping[str, Any] | None) -> tuple[float, float]:
    """(epsilon, delta) of the decoder, for one utterance that becomes another."""
    if not privacy or privacy["epsilon"] == "inf" or privacy["adjacency"] is None:
        return math.inf, 1.0
    epsilon, delta = float(privacy["epsilon"]), float(privacy["delta"])
    if privacy["adjacency"] == "add_remove":
        epsilon, delta = 2 * epsilon, (1 + math.exp(min(epsilon, 700))) * delta
    return (epsilon, delta) if delta < 1 else (math.inf, 1.0)


def _of_decoder(card: Mapping[str, Any]) -> str:
    if card.get("public") or "privacy" not in card:
        return ""
    epsilon, _ = _of_private_training(card["privacy"])
    return f" The decoder was trained with differential privacy, for which {epsilon:.3g} is in the epsilon."


def _epsilon_of(sigma: float, delta: float, sensitivity: float) -> float:
    """The smallest epsilon that Gaussian noise of this sigma gives, by bisection of the exact condition."""
    low, high = 1e-6, LARGEST_EPSILON
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gaussian_sigma(middle, delta, sensitivity) <= sigma else (middle, high)
    return high
