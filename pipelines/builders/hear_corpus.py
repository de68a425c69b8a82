"""Hear a corpus with Beam, keep what was heard, and build pools from it as often as wanted.

Hearing takes most of the time and does not depend on who is excluded, so it is kept in a folder: five folds over the
speakers hear the corpus once.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apache_beam as beam

from sottovoce.models.corpus import Refused
from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.models.speech.voice.builder.examples import Heard
from sottovoce.models.speech.voice.builder.heard_file import SUFFIX, read_heard, write_heard
from sottovoce.models.tally import Tally
from sottovoce.pipelines.remote.beam_options import beam_options
from sottovoce.pipelines.remote.own_workers import only_own_workers
from sottovoce.pipelines.studies.speech_study import TALLIES, reasons_in, speech_job
from sottovoce.transforms.engine.job import AudioSettings
from sottovoce.transforms.speech.hear_voices import HearVoices
from sottovoce.transforms.speech.stages import AlignWords, LoadSpeech
from sottovoce.transforms.speech.transcribe import TranscribeSpeech

BATCH = 8
# A transcript by a recogniser has a wrong word now and then. The whole must fit; a word that does not is not learnt from.
# Floors of pocketsphinx alone: the pool that ships was heard so.
ALIGN = {
    "use": "pocketsphinx",
    "misfits": "refuse",
    "floor": -3.0,
    "word_floor": -1e9,
    "pause_floor": -1e9,
    "phone_floor": -1e9,
}


@dataclass(frozen=True)
class Hearing:
    """How the corpus is heard. `encoder` embeds speakers for selection; `recogniser` writes missing transcripts."""

    folder: Path
    encoder: Spec | None
    recogniser: Spec
    workers: int = 1
    beam_arguments: Sequence[str] = ()
    roots: AudioRoots = field(default_factory=AudioRoots)
    audio: AudioSettings = field(default_factory=AudioSettings)


def usable(records: Sequence[Utterance | Refused]) -> list[Utterance]:
    """Recordings whose speaker is known."""
    found = [r for r in records if isinstance(r, Utterance) and r.audio is not None and r.speaker_id]
    if not found:
        raise CorpusError("no record has both audio_filepath and speaker_id")
    return found


def hear(utterances: Sequence[Utterance], hearing: Hearing) -> Counter[str]:
    """Write what was heard to the folder; returns the reasons of what was refused."""
    job = speech_job(hearing.folder, {"align": read_spec("align", ALIGN)}, hearing.roots, hearing.audio)
    hearing.folder.mkdir(parents=True, exist_ok=True)
    for file in (*hearing.folder.glob(f"*{SUFFIX}"), *hearing.folder.glob(f"{TALLIES}*")):
        file.unlink()  # of an earlier hearing; whatever else lies in a folder that somebody named is theirs
    batches = [utterances[at : at + BATCH] for at in range(0, len(utterances), BATCH)]
    options = beam_options("direct", hearing.workers, hearing.beam_arguments)
    with only_own_workers(), beam.Pipeline(options=options) as pipeline:
        passed: Any = pipeline | beam.Create(batches, reshuffle=True)
        tallies = []
        stages = (
            LoadSpeech(job),
            TranscribeSpeech(job, hearing.recogniser),
            AlignWords(job),
            HearVoices(job, hearing.encoder),
        )
        for stage in stages:
            outputs = passed | stage
            passed = outputs.passed
            tallies += outputs.tallies
        passed | "Keep" >> beam.Map(_keep, str(hearing.folder))
        lines = tallies | "Tallies" >> beam.Flatten() | "TallyLines" >> beam.Map(_line)
        lines | "WriteTallies" >> beam.io.WriteToText(str(hearing.folder / TALLIES))
    return reasons_in(hearing.folder)


def heard_before(folder: Path) -> Iterator[Heard]:
    """All that an earlier `hear` kept in the folder, by file name; CorpusError where a file is not one of its own."""
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        yield from read_heard(file)


def _keep(batch: Sequence[Heard], folder: str) -> None:
    """One file for each batch, named by what is in it: a retry writes the same file again."""
    name = hashlib.sha256("\0".join(heard.utterance for heard in batch).encode()).hexdigest()
    with open(Path(folder) / f"{name}{SUFFIX}", "wb") as file:
        write_heard(file, batch)


def _line(tally: Tally) -> str:
    return json.dumps(tally.to_json())
