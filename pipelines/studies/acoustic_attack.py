"""Who is it, in the very speech that recognisers are trained on? Embeddings of slices, and the attackers of `evaluate voice`.

What is tested is the training speech itself. The attacker's enrolment is anonymised with a secret of its own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import Design, Recordings, attacks
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.pipelines.studies.acoustic_sets import Clip
from sottovoce.pipelines.studies.voice_results import AttackResult, best_of
from sottovoce.transforms.speech.measure_voice import key_of

Embeddings = dict[str, np.ndarray]  # of each encoder: [pieces, d]


@dataclass(frozen=True)
class Suspects:
    """Keys of utterances that attackers enrol and that they are tested on."""

    enrolled: frozenset[str]
    tested: frozenset[str]


def choose_suspects(utterances: Sequence[Utterance], design: Design) -> Suspects:
    """Of every speaker with more recordings than are enrolled, always the same ones."""
    draw, enrolled, tested = random.Random(design.seed), set(), set()
    by_speaker: dict[str, list[str]] = {}
    for utterance in utterances:
        by_speaker.setdefault(utterance.speaker_id or "", []).append(key_of(utterance))
    for _, keys in sorted(by_speaker.items()):
        if len(keys) > design.enrolled:
            order = draw.sample(sorted(keys), len(keys))
            enrolled |= set(order[: design.enrolled])
            tested |= set(order[design.enrolled : design.enrolled + design.tested])
    return Suspects(frozenset(enrolled), frozenset(tested))


def embed(pieces: Sequence[Clip], encoder: Spec) -> np.ndarray:
    """[pieces, d] by one encoder."""
    made = encoder.make()
    made.setup()
    return np.stack([made.embed(piece.speech) for piece in pieces])


@dataclass(frozen=True, repr=False)
class EmbeddedClips:
    """Pieces of one set with what each encoder heard in them."""

    pieces: list[Clip]
    embeddings: Embeddings

    def taken_together(self) -> EmbeddedClips:
        """Versions of a slice as one: their text links them, so an attacker averages what is heard in them."""
        rows: dict[tuple[str, str], list[int]] = {}
        for row, piece in enumerate(self.pieces):
            rows.setdefault((piece.utterance, piece.text), []).append(row)
        means = {
            name: np.stack([found[own].mean(axis=0) for own in rows.values()])
            for name, found in self.embeddings.items()
        }
        return EmbeddedClips([self.pieces[own[0]] for own in rows.values()], means)


def attack_results(
    enrolled: EmbeddedClips,
    tested: EmbeddedClips,
    known: EmbeddedClips,
    design: Design,
    pool_of: Mapping[str, int] | None,
) -> list[AttackResult]:
    """The best score of each attacker, encoder and number of slices taken together.

    `known` are the original recordings that an ignorant attacker enrols. `pool_of` numbers the pools that speak for each
    speaker, where there are several: only speakers of one pool are compared.
    """
    speaker = np.array([piece.speaker for piece in (*enrolled.pieces, *tested.pieces)])
    original_of = {piece.utterance: row for row, piece in enumerate(known.pieces)}
    rows = [original_of.get(piece.utterance, -1) for piece in enrolled.pieces]
    marked = np.arange(len(speaker)) < len(enrolled.pieces)
    pool = np.array([pool_of[name] for name in speaker]) if pool_of and len(set(pool_of.values())) > 1 else None
    results: list[AttackResult] = []
    for encoder in enrolled.embeddings:
        anonymised = np.concatenate([enrolled.embeddings[encoder], tested.embeddings[encoder]])
        original = np.full_like(anonymised, np.nan)  # of what is tested no attacker has the original
        original[marked] = known.embeddings[encoder][rows]
        recordings = Recordings(speaker, original, anonymised, marked, pool)
        results += best_of(encoder, attacks(recordings, design))
    return results
