"""What graphs over speech that write no data set share: a job with a secret of its own, and why records were refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from sottovoce.models.randomness import fresh_secret
from sottovoce.models.settings import Spec
from sottovoce.pipelines.job_file import read_job
from sottovoce.transforms.job import Job

TALLIES = "tallies"


def speech_job(folder: Path, specs: dict[str, Spec]) -> Job:
    """The default job with these members. Each has a fresh secret, so each draws as another run would."""
    job_file = read_job(None, ())
    audio, slices = job_file.sections["audio"], job_file.sections["slice"]
    settings = {"audio": audio, "slice": slices, **job_file.specs, **specs}
    return Job(run_uri=str(folder), secret=fresh_secret(), sinks={}, shards={}, **settings)


def reasons_in(folder: Path) -> Counter[str]:
    """How often each reason refused a record, over all tallies that a graph wrote into the folder."""
    reasons: Counter[str] = Counter()
    for file in folder.glob(f"{TALLIES}*"):
        for line in file.read_text().splitlines():
            for stage in json.loads(line)["stages"].values():
                reasons.update(stage["reasons"])
    return reasons
