"""What studies of speech share: a job with a secret of its own, its chain for a plain loop, and why records were refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from sottovoce.models.randomness import Secret
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import Spec
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.models.speech.chain import SpeechChain
from sottovoce.models.text.chain import draws_of, without_coin
from sottovoce.pipelines.sanitize.job_file import JobFile, read_job
from sottovoce.pipelines.sanitize.secret_file import passing_secret
from sottovoce.transforms.engine.job import AudioSettings, Job

TALLIES = "tallies"


def speech_job(folder: Path, specs: dict[str, Spec], audio_roots: AudioRoots, audio: AudioSettings) -> Job:
    """The default job with these members. Each has a fresh secret, so each draws as another run would."""
    job_file = read_job(None, ())
    settings: dict[str, Any] = {"audio": audio, "audio_roots": audio_roots, "slice": job_file.sections["slice"]}
    members = job_file.members | specs
    return Job(places=RunPlaces.of(str(folder)), secret=passing_secret(), sinks={}, shards={}, **settings, **members)


def speech_chain(job: JobFile, secret: Secret) -> SpeechChain:
    """The speech chain of a job, for a plain loop over recordings."""
    align, voice, mask, relisten = (job.specs[family].make() for family in ("align", "voice", "mask", "relisten"))
    strategy, key = without_coin(job.specs["replace"]).make(), draws_of(secret, job.specs["replace"])
    strategy.setup()
    return SpeechChain(
        align, voice, mask, relisten, job.sections["slice"], secret, job.sections["audio"].align_on,
        lambda utterance: strategy.replace(utterance, key),
    )  # fmt: skip


def reasons_in(folder: Path) -> Counter[str]:
    """How often each reason refused a record, over all tallies that a graph wrote into the folder."""
    reasons: Counter[str] = Counter()
    for file in folder.glob(f"{TALLIES}*"):
        for line in file.read_text().splitlines():
            for stage in json.loads(line)["stages"].values():
                reasons.update(stage["reasons"])
    return reasons
