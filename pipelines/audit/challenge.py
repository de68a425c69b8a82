"""The blind challenge: outsiders attack the voices of a run, and only the operator knows the answers.

Files are laid out as the VoicePrivacy challenges do (Kaldi data directories): `enrolls`, original recordings of each person
under an alias; `trials`, released slices and every pair of an alias and a slice; `train`, released slices of other people
under aliases, to learn from. Which slice is whose is the key, which stays in private state. Scores come back as lines of
`alias slice score`; they are judged as the audit's own attackers are, and written into its file under `others`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.evaluation.audit.trials import Figures, Trials, figures
from sottovoce.models.evaluation.metrics.estimate import Estimate
from sottovoce.models.evaluation.metrics.verification import eer, over_speakers
from sottovoce.models.randomness import Secret
from sottovoce.models.speech.audio import to_flac
from sottovoce.pipelines.audit.voices import Person
from sottovoce.transforms.speech.stages import LoadAudio

README = """Blind challenge on the voices of {run}.

enrolls/  original recordings of {people} people: wav.scp, utt2spk, spk2utt. Keep them as you keep the corpus.
trials/   released slices: wav.scp, and `trials`, every pair of a person and a slice.
train/    released slices of {others} other people, with who they are: wav.scp, utt2spk, spk2utt.

Write one line for each line of trials/trials: person, slice, score; higher is more likely the same person. Send them back.
"""


def split(people: Sequence[Person]) -> tuple[Sequence[Person], Sequence[Person]]:
    """(who is looked for, who is there to learn from): a third of them teach."""
    teach = len(people) // 3
    return people[teach:], people[:teach]


def write_challenge(
    people: Sequence[Person], load: LoadAudio, secret: Secret, run_id: str, out: Path
) -> dict[str, str]:
    """The key: whose slice it is, by alias."""
    looked_for, teachers = split(people)
    if len(looked_for) < 2:
        raise RunError(f"a challenge needs at least 2 people with recordings and slices; there are {len(looked_for)}")
    out.mkdir(parents=True, mode=0o700)  # original voices are in it
    alias = {person.name: f"p{secret.token('challenge person', person.name)[:10]}" for person in people}
    known, key = _Folder(out / "enrolls"), {}
    for person in looked_for:
        for number, utterance in enumerate(person.enrolled):
            known.add(f"{alias[person.name]}-{number}", to_flac(load(utterance)), alias[person.name])
    known.close()
    tried = _Folder(out / "trials")
    for person in looked_for:
        for row in person.tested:
            name = secret.token("challenge slice", row["id"])[:16]
            tried.add(name, row["audio"]["bytes"])
            key[name] = alias[person.name]
    pairs = [f"{who} {name}" for who in sorted(set(key.values())) for name in sorted(key)]
    (out / "trials" / "trials").write_text("\n".join(pairs) + "\n")
    tried.close()
    taught = _Folder(out / "train")
    for person in teachers:
        for row in person.tested:
            taught.add(secret.token("challenge slice", row["id"])[:16], row["audio"]["bytes"], alias[person.name])
    taught.close()
    (out / "README.txt").write_text(README.format(run=run_id, people=len(looked_for), others=len(teachers)))
    return key


class _Folder:
    """A Kaldi data directory. Recordings are written in no order that tells anything: their names are keyed."""

    def __init__(self, path: Path):
        self._path = path
        self._wavs: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        (path / "wav").mkdir(parents=True)

    def add(self, name: str, flac: bytes, owner: str | None = None) -> None:
        place = self._path / "wav" / f"{name}.flac"
        place.write_bytes(flac)
        self._wavs[name] = os.path.relpath(place, self._path.parent)
        if owner is not None:
            self._owners[name] = owner

    def close(self) -> None:
        self._write("wav.scp", self._wavs)
        if self._owners:
            self._write("utt2spk", self._owners)
            people: dict[str, list[str]] = {}
            for name, owner in sorted(self._owners.items()):
                people.setdefault(owner, []).append(name)
            self._write("spk2utt", {owner: " ".join(names) for owner, names in people.items()})
        for place in sorted(self._path.rglob("*.flac")):
            os.utime(place, (0, 0))  # when a file was written tells whose it is

    def _write(self, name: str, rows: Mapping[str, str]) -> None:
        (self._path / name).write_text("".join(f"{first} {second}\n" for first, second in sorted(rows.items())))


def read_scores(path: str, key: Mapping[str, str]) -> np.ndarray:
    """Scores [people, slices] in the order of their names."""
    people, slices = sorted(set(key.values())), sorted(key)
    scores = np.full((len(people), len(slices)), np.nan)
    at = {name: place for place, name in enumerate(people)}, {name: place for place, name in enumerate(slices)}
    for number, line in enumerate(_lines(path), 1):
        parts = line.split()
        if len(parts) != 3 or parts[0] not in at[0] or parts[1] not in at[1] or not _finite(parts[2]):
            raise CorpusError(
                f"{path}, line {number}: expected a person and a slice of trials/trials, and a finite score"
            )
        scores[at[0][parts[0]], at[1][parts[1]]] = float(parts[2])
    if missing := int(np.isnan(scores).sum()):
        raise CorpusError(f"{path}: {missing} of {scores.size} trials have no score; expected one for each")
    return scores


def _lines(path: str) -> Iterable[str]:
    try:
        return [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{path}: cannot be read as text; expected lines of: person slice score") from None


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def judged(scores: np.ndarray, key: Mapping[str, str]) -> tuple[Figures, Estimate]:
    """(how often the right person scores highest, as an attack of the audit; the EER with an interval over people)."""
    people, slices = sorted(set(key.values())), sorted(key)
    right = np.array([people.index(key[name]) for name in slices])
    own = scores[right, np.arange(len(slices))]
    best = scores.max(axis=0)
    hits = np.where(own >= best, 1 / (scores == best).sum(axis=0), 0.0)
    trials = Trials(hits, np.full(len(slices), 1 / len(people)), [key[name] for name in slices])
    each = max(np.bincount(right))
    cube = np.full((len(people), len(people), each), np.nan)
    for person in range(len(people)):
        mine = np.flatnonzero(right == person)
        cube[:, person, : len(mine)] = scores[:, mine]
    return figures(trials), over_speakers(cube, eer)


def as_result(found: Figures) -> dict[str, Any]:
    """The risk and its interval, to four digits, as `audit.json` holds them under `others`."""
    return {"value": round(found.risk.value, 4), "low": round(found.risk.low, 4), "high": round(found.risk.high, 4)}
