"""An outsider's attack on a blind challenge, from its files alone: the project's own ignorant attacker, as whoever gets the
folder could run it. What it scores must be judged as the same attacker is inside; so the challenge is as hard as the audit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.speakers.plda import unit

Score = Literal["cosine", "centred"]


def scores_from_files(folder: Path, encoder: Any, score: Score) -> dict[tuple[str, str], float]:
    """By person and slice, for every line of trials/trials."""
    known = _embedded(folder, "enrolls", encoder)
    people: dict[str, list[str]] = {}
    for name, person in _table(folder / "enrolls" / "utt2spk").items():
        people.setdefault(person, []).append(name)
    enrolled = unit(np.array([known[name] for names in people.values() for name in names]))
    tried = _embedded(folder, "trials", encoder)
    slices = unit(np.array(list(tried.values())))
    if score == "centred":
        enrolled, slices = unit(enrolled - enrolled.mean(axis=0)), unit(slices - slices.mean(axis=0))
    ends = np.cumsum([len(names) for names in people.values()])[:-1]
    means = unit(np.array([own.mean(axis=0) for own in np.split(enrolled, ends)]))
    likeness = means @ slices.T
    at = {name: place for place, name in enumerate(people)}, {name: place for place, name in enumerate(tried)}
    pairs = [line.split() for line in (folder / "trials" / "trials").read_text().splitlines()]
    return {(who, name): float(likeness[at[0][who], at[1][name]]) for who, name in pairs}


def _embedded(folder: Path, part: str, encoder: Any) -> dict[str, np.ndarray]:
    return {
        name: encoder.embed(load(AudioRef(str(folder / place))))
        for name, place in _table(folder / part / "wav.scp").items()
    }


def _table(path: Path) -> Mapping[str, str]:
    try:
        return dict(line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        raise CorpusError(f"{path}: cannot be read; expected the folder that `sottovoce challenge` wrote") from None
