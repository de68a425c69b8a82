"""Who said it, by voice and words together: what a slice says is weighed beside how it sounds.

The attackers by voice (`by_voice.py`), each with the likeness of the slice's words to what the person says in the recordings that
the attacker has (TF-IDF). Both are brought to one scale, strangers' scores at mean 0 and deviation 1, and added.
People who
say the same things again are told by it where neither the voice nor the words alone would do.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import Attack, Ignorant, Recordings, Split, attacks
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.by_voice import DESIGN, by_voice, enough_voices, gain, invented_voices
from sottovoce.models.evaluation.audit.material import Material
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable, Outcome, Trials


class SpeakersByVoiceAndWords:
    """Linkage by the sum of two scores on one scale: likeness of the voice, and likeness of the words."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release, recordings of the people in it with their words, and the method; tells by both whose slice it is"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        voices = enough_voices(material)
        if isinstance(voices, NotMeasurable | NotApplicable):
            return {"stt_am": voices}
        tried = [fused for recordings in voices.values() for fused in _fused(material, recordings)]
        return {"stt_am": max(tried, key=gain)}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _invented(rng, told=True)


def _fused(material: Material, recordings: Recordings) -> list[Trials]:
    """One for each attacker and score by voice, with what the words alone reach beside it."""
    read = material.readers["tfidf"].read(material.voice_texts).toarray()
    said = Recordings(recordings.speaker, read, read, recordings.enrolment)
    (words, *_) = (scores for _, scores in Ignorant().scores(said, Split.of(said, DESIGN), 1))
    alone = by_voice(Attack("words", "cosine", 1, words))
    more = {"right by words alone": float(alone.hits.mean())}
    return [
        by_voice(Attack(voice.attacker, voice.score, 1, voice.scores + words), more)
        for voice in attacks(recordings, DESIGN)
    ]


def _invented(rng: np.random.Generator, told: bool) -> Material:
    """Voices that tell most people, or nobody; and among the words two that three people share, or none."""
    material = invented_voices(rng, told=told, noise=1.5)
    assert not isinstance(material.voices, NotMeasurable | NotApplicable)
    (recordings,) = material.voices.values()
    texts = []
    for person in recordings.speaker:
        said = [f"word{number}" for number in rng.integers(0, 200, 6)]
        texts.append(" ".join([*said, *([f"own{int(person) // 3}", f"too{int(person) // 3}"] if told else [])]))
    return Material((), voices=material.voices, voice_texts=texts)
