"""Voices for the attackers: embeddings of released slices, and of original recordings before and after the job's own voice.

The attacker has a few original recordings of each person, other than those that the slices under attack were cut from, and
gives them the job's voice with a secret of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal, RunError
from sottovoce.models.evaluation.attacks.speaker_linkage import Recordings
from sottovoce.models.evaluation.audit.by_voice import DESIGN
from sottovoce.models.evaluation.audit.material import Missing
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotMeasurable
from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.records import Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.models.speech.spoken import Spoken
from sottovoce.pipelines.audit.originals import Originals, heard, slices_by_utterance
from sottovoce.pipelines.audit.released import Sample
from sottovoce.pipelines.sanitize.job_file import JobFile
from sottovoce.pipelines.studies.speech_study import speech_chain
from sottovoce.transforms.speech.stages import LoadAudio


@dataclass(frozen=True, repr=False)
class Person:
    """One person to be found: recordings that the attacker has, and released slices that are theirs."""

    name: str
    enrolled: list[Utterance]
    tested: list[Mapping[str, Any]]  # released slices of other utterances


def voices_of(
    sample: Sample, originals: Originals, secret: Secret, job: JobFile, roots: AudioRoots, limit: int | None
) -> tuple[dict[str, Recordings], list[str]] | Missing:
    """By encoder, and what is said in each row."""
    people = people_of(sample, originals, secret)[:limit]
    if len(people) < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people with recordings and slices; there are {len(people)}")
    encoders = _encoders(job.sections["audit"].encoders)
    if not encoders:
        return NotMeasurable("a speaker encoder: none of audit.encoders is installed (docs/voice.md)")
    load, chain = LoadAudio(roots, job.sections["audio"]), speech_chain(job, fresh_secret())
    chain.setup()
    rows: list[tuple[str, bool, dict[str, np.ndarray], dict[str, np.ndarray]]] = []
    texts: list[str] = []
    for person in people:
        for utterance in person.enrolled:
            try:
                spoken = Spoken(utterance, load(utterance))
                changed = chain.protected(spoken).speech
            except Refusal:
                continue
            texts.append(utterance.text)
            rows.append((person.name, True, _embedded(encoders, spoken.speech), _embedded(encoders, changed)))
        for row in person.tested:
            made = _embedded(encoders, heard(row))
            texts.append(row["text"])
            rows.append((person.name, False, made, made))
    names, known = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return {
        name: Recordings(
            names, np.array([row[2][name] for row in rows]), np.array([row[3][name] for row in rows]), known
        )
        for name in encoders
    }, texts


def people_of(sample: Sample, originals: Originals, secret: Secret) -> list[Person]:
    """Recordings that were not released as speech are taken first for what the attacker knows."""
    rows = sample.rows.get("stt_am", {})
    people = []
    for person in sorted(originals):
        spoken = [utterance for utterance in originals[person] if utterance.audio is not None]
        cut = slices_by_utterance(rows, {person: spoken}, secret)
        spoken.sort(key=lambda utterance: (utterance.dialogue_id, utterance.id) in cut)
        enrolled = spoken[: DESIGN.enrolled]
        known = {(utterance.dialogue_id, utterance.id) for utterance in enrolled}
        tested = [row for name, own in cut.items() if name not in known for row in own][: DESIGN.tested]
        if len(enrolled) == DESIGN.enrolled and tested:
            people.append(Person(person, enrolled, tested))
    return people


def _encoders(names: Sequence[str]) -> dict[str, Any]:
    encoders = {}
    for name in names:
        encoder = read_spec("speakers", name).make()
        try:
            encoder.setup()
        except RunError:  # its package is not installed
            continue
        encoders[name] = encoder
    return encoders


def _embedded(encoders: Mapping[str, Any], speech: Speech) -> dict[str, np.ndarray]:
    return {name: encoder.embed(speech) for name, encoder in encoders.items()}
