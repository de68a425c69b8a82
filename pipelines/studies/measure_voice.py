"""The study of a voice: anonymise chosen utterances, listen to both versions, let attackers try, sum up.

The test utterances are anonymised with one secret and the attacker's enrolment with another: an attacker knows the method
and not the run's secret.
"""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apache_beam as beam
import numpy as np

from sottovoce.models.corpus import Refused
from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.evaluation.attacks.speaker_linkage import Design, choose_enrolment
from sottovoce.models.evaluation.voice_row import MeasuredSpeech, VoiceRow
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.pipelines.remote.beam_options import beam_options
from sottovoce.pipelines.remote.own_workers import only_own_workers
from sottovoce.pipelines.studies.speech_study import TALLIES, reasons_in, speech_job
from sottovoce.transforms.engine.job import AudioSettings
from sottovoce.transforms.speech.measure_voice import Measures, MeasureVoice, key_of
from sottovoce.transforms.speech.stages import AlignWords, LoadSpeech

ROWS, KEPT = "rows", "anonymised"
BATCH = 8


@dataclass(frozen=True)
class VoiceStudy:
    """What to try: the voice and its aligner, and how the attack is laid out."""

    voice: Spec
    align: Spec | None  # None for a voice that does not keep time
    design: Design
    measures: Measures
    out: Path
    workers: int = 1
    fine_tune: bool = False
    roots: AudioRoots = field(default_factory=AudioRoots)
    audio: AudioSettings = field(default_factory=AudioSettings)


def clear(study: VoiceStudy) -> None:
    """Remove what a run left on its way: it holds embeddings of people's voices."""
    shutil.rmtree(study.out / "_work", ignore_errors=True)


def choose(records: Sequence[Utterance | Refused], design: Design, speakers: int | None) -> list[Utterance]:
    """Utterances of speakers who have enough of them, at most as many of each as the design uses; always the same ones."""
    by_speaker: dict[str, list[Utterance]] = {}
    for record in records:
        if isinstance(record, Utterance) and record.audio is not None and record.speaker_id:
            by_speaker.setdefault(record.speaker_id, []).append(record)
    draw = random.Random(design.seed)
    enough = [name for name in sorted(by_speaker) if len(by_speaker[name]) > design.enrolled]
    if speakers is not None and speakers < len(enough):
        enough = sorted(draw.sample(enough, speakers))
    if len(enough) < 2:
        raise CorpusError(
            f"the corpus has {len(enough)} speakers with more than {design.enrolled} recordings; at least 2 are needed "
            "(each record needs speaker_id and audio_filepath)"
        )
    most = design.enrolled + design.tested
    return [u for name in enough for u in draw.sample(by_speaker[name], min(most, len(by_speaker[name])))]


def run(study: VoiceStudy, chosen: Sequence[Utterance]) -> tuple[list[VoiceRow], Counter[str]]:
    """Every utterance measured before and after, and the reasons of those that were refused."""
    marked = choose_enrolment(np.array([u.speaker_id for u in chosen]), study.design)
    work = study.out / "_work"
    clear(study)
    (work / KEPT).mkdir(parents=True)
    if study.fine_tune:
        kept = dataclasses.replace(study.measures, kept_uri=str(work / KEPT))
        study = dataclasses.replace(study, measures=kept)
    pipeline = beam.Pipeline(options=beam_options("direct", study.workers, ()))
    tallies = []
    for enrolment in (False, True):
        part = [utterance for utterance, mark in zip(chosen, marked, strict=True) if mark == enrolment]
        tallies += _branch(pipeline, study, part, enrolment, work)
    lines = tallies | "Tallies" >> beam.Flatten() | "TallyLines" >> beam.Map(lambda tally: json.dumps(tally.to_json()))
    lines | "WriteTallies" >> beam.io.WriteToText(str(work / TALLIES))
    with only_own_workers():
        pipeline.run().wait_until_finish()
    rows = [VoiceRow.from_line(line) for file in work.glob(f"{ROWS}*") for line in file.read_text().splitlines()]
    reasons = reasons_in(work)
    if not rows:
        raise RunError(f"every recording was refused: {dict(reasons)}")
    return sorted(rows, key=lambda row: row.recording), reasons


def _branch(pipeline: Any, study: VoiceStudy, part: list[Utterance], enrolment: bool, work: Path) -> list[Any]:
    name = "Enrolment" if enrolment else "Test"
    aligner = {"align": study.align} if study.align else {}
    job = speech_job(study.out, {"voice": study.voice, **aligner}, study.roots, study.audio)
    batches = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    loaded = pipeline | name >> beam.Create(batches, reshuffle=True) | f"{name}/Load" >> LoadSpeech(job)
    stages = [loaded]
    if study.align is not None:
        stages.append(stages[-1].passed | f"{name}/Align" >> AlignWords(job))
    stages.append(stages[-1].passed | f"{name}/Measure" >> MeasureVoice(job, study.measures, enrolment))
    measured = stages[-1]
    lines = measured.passed | f"{name}/Lines" >> beam.FlatMap(lambda rows: [row.to_line() for row in rows])
    lines | f"{name}/Write" >> beam.io.WriteToText(str(work / f"{ROWS}-{name.lower()}"))
    return [tally for stage in stages for tally in stage.tallies]


def with_known(study: VoiceStudy, file: Path | None) -> VoiceStudy:
    """The study with what an earlier one has measured on the original recordings."""
    if file is None or not file.exists():
        return study
    known = {name: MeasuredSpeech.from_json(values) for name, values in json.loads(file.read_text()).items()}
    wanted = set(study.measures.encoders)
    usable = {name: heard for name, heard in known.items() if wanted <= set(heard.embeddings)}
    return dataclasses.replace(study, measures=dataclasses.replace(study.measures, known=usable))


def keep_known(rows: Sequence[VoiceRow], file: Path) -> None:
    """Keeps what was measured on the original recordings, embeddings included, for `with_known` of a later study."""
    file.touch(0o600)  # whose voices these are: for their keeper alone
    file.write_text(json.dumps({row.recording: row.before.to_json() for row in rows}))


def pick(
    chosen: Sequence[Utterance], design: Design, listen: int, samples: int
) -> tuple[frozenset[str], dict[str, int]]:
    """Keys of the test utterances that recognisers hear, and of those that are kept as samples: spread over speakers."""
    marked = choose_enrolment(np.array([u.speaker_id for u in chosen]), design)
    tested = [utterance for utterance, mark in zip(chosen, marked, strict=True) if not mark]
    random.Random(design.seed + 1).shuffle(tested)
    listened = frozenset(key_of(utterance) for utterance in tested[:listen])
    return listened, {key_of(utterance): number for number, utterance in enumerate(tested[:samples], 1)}
