"""Whose recording was it, by which public sounds the phonetic voice chose? The attacker knows the secret, and so all draws.

    python tools/link_by_choice.py an4.jsonl

What is released is heard through the vocoder, and which sounds are in it has to be guessed. Here nothing is guessed: for
each sound the attacker sees the candidates that were drawn and the one that was said, and takes the mean, over a recording, of
what the aligner's network hears in the chosen one less the mean of the candidates. Half of the speakers teach what tells
people apart (directions of unit variance, or linear discriminants), pairs of the others are told; so for ten halvings. Beside
it, as the most that could pass, the same of what the network hears in the source itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sottovoce.models.errors import Refusal
from sottovoce.models.evaluation.metrics.verification import eer
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio import load, resample
from sottovoce.models.speech.chain import aligned
from sottovoce.models.speech.sphinx import RATE_HZ
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack
from sottovoce.models.speech.voice.phonetic import Phonetic
from sottovoce.models.speech.voice.public_sounds import PHONE_POINTS, WHOLE, PublicSounds, resampled
from sottovoce.pipelines.local.read_locally import read_utterances

SECRET = Secret(b"\x03" * 32)
LEAST_SOUNDS, HALVINGS, KEPT, DIRECTIONS = 6, 10, 60, 20


class Watched(PublicSounds):
    """Public sounds that tell what was chosen, and what the source's own phones are."""

    chosen: list[np.ndarray]
    own: list[np.ndarray]

    def said(self, track: PhoneTrack, followed: np.ndarray, *options: Any) -> np.ndarray:
        """As ever; `own` and `chosen` are of this recording afterwards, a row for each sound."""
        parts = zip(track.phone, track.source_begin, track.source_length, strict=True)
        self.own = [
            np.append(resampled(followed[begin : begin + length] / WHOLE, PHONE_POINTS).ravel(), phone)
            for phone, begin, length in parts
            if length and phone != SILENCE
        ]
        self.chosen = []
        return super().said(track, followed, *options)

    def _cheapest(self, drawn: Sequence[tuple[int, np.ndarray, np.ndarray]], joins: float) -> list[tuple[int, int]]:
        found = super()._cheapest(drawn, joins)
        assert self.heard is not None
        for (_, rows, _), (_, row) in zip(drawn, found, strict=True):
            self.chosen.append(((self.heard[row] - self.heard[rows].mean(axis=0)) / WHOLE).ravel())
        return found


def watched(utterances: Sequence[Utterance]) -> tuple[list[str], np.ndarray, list[np.ndarray]]:
    """Speakers; by recording the mean of what was chosen; and the source's own phones."""
    aligner, voice = Spec("align", "pocketsphinx").make(), Phonetic()
    aligner.setup()
    voice.setup()
    ships = voice.parts["sounds"]
    sounds = voice.parts["sounds"] = Watched(ships.phone, ships.shape, ships.heard)
    speakers, chosen, own = [], [], []
    for utterance in utterances:
        try:
            spoken = aligned(aligner, Spoken(utterance, resample(load(utterance.audio), RATE_HZ)))
            voice.transform(spoken.utterance, spoken.speech, spoken.words, SECRET)
        except Refusal:
            continue
        if len(sounds.chosen) >= LEAST_SOUNDS:
            speakers.append(utterance.speaker_id or utterance.id)
            chosen.append(np.mean(sounds.chosen, axis=0))
            own.append(np.array(sounds.own))
    return speakers, np.array(chosen), own


def without_phones(own: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over each recording, of every sound less the mean of all sounds that are the same phone."""
    rows = np.concatenate(own)
    means = {phone: rows[rows[:, -1] == phone, :-1].mean(axis=0) for phone in np.unique(rows[:, -1])}
    return np.array([np.mean([row[:-1] - means[row[-1]] for row in one], axis=0) for one in own])


def of_unit_variance(rows: np.ndarray, _: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    mean = rows.mean(axis=0)
    ways = np.linalg.svd(rows - mean, full_matrices=False)[2][:KEPT]
    scale = ((rows - mean) @ ways.T).std(axis=0)
    return lambda others: (others - mean) @ ways.T / scale


def discriminants(rows: np.ndarray, speakers: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    white = of_unit_variance(rows, speakers)
    most = min(DIRECTIONS, len(np.unique(speakers)) - 1, rows.shape[1])
    found = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto", n_components=most)
    found.fit(white(rows), speakers)
    return lambda others: found.transform(white(others))


def linked(rows: np.ndarray, speakers: np.ndarray, each: int, rng: np.random.Generator) -> float:
    """EER of means over `each` recordings against each other, by cosine."""
    means, names = [], []
    for speaker in np.unique(speakers):
        own = rng.permutation(np.flatnonzero(speakers == speaker))
        means += [rows[own[at : at + each]].mean(axis=0) for at in range(0, len(own) - each + 1, each)]
        names += [speaker] * (len(own) // each)
    unit = np.array(means) / np.linalg.norm(means, axis=1, keepdims=True)
    one, other = np.triu_indices(len(unit), 1)
    scores, same = (unit @ unit.T)[one, other], np.array(names)[one] == np.array(names)[other]
    return eer(scores[same], scores[~same])


def main() -> None:
    parser = argparse.ArgumentParser(description="link recordings by which public sounds were chosen for them")
    parser.add_argument("data", help="a corpus with transcripts and several recordings of each speaker")
    found = [u for u in read_utterances(parser.parse_args().data) if isinstance(u, Utterance) and u.audio is not None]
    names, chosen, own = watched(found)
    speakers = np.array(names)
    print(
        f"{len(names)} recordings of {len(set(names))} speakers, {np.mean([len(one) for one in own]):.0f} sounds each"
    )
    for what, rows in (("which sounds were chosen", chosen), ("the source's own phones", without_phones(own))):
        for embed in (of_unit_variance, discriminants):
            for each in (1, 5):
                rates = []
                for seed in range(HALVINGS):
                    rng = np.random.default_rng(seed)
                    taught = np.isin(speakers, rng.permutation(np.unique(speakers))[: len(np.unique(speakers)) // 2])
                    made = embed(rows[taught], speakers[taught])(rows[~taught])
                    rates.append(100 * linked(made, speakers[~taught], each, rng))
                told = f"EER {np.mean(rates):.1f} ({min(rates):.1f} to {max(rates):.1f} over halvings)"
                print(f"{what}, {embed.__name__.replace('_', ' ')}, {each} recordings: {told}")


if __name__ == "__main__":
    main()
