"""Which pool speaks for whom in a study: one that was built without hearing them, or the figures would flatter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from sottovoce.models.errors import CorpusError
from sottovoce.models.settings import Spec, option_names
from sottovoce.models.speech.voice import pool as pools


def unheard(voice: Spec, folders: Sequence[Path], speakers: Iterable[str]) -> dict[str, Spec]:
    """For each speaker the voice with the first of these pools that does not know them: folds over the speakers of a corpus."""
    known = {folder: set(pools.load(folder).speaker.tolist()) for folder in folders}
    found: dict[str, Spec] = {}
    for speaker in set(speakers):
        without = [folder for folder, names in known.items() if speaker not in names]
        if folders and not without:
            raise CorpusError("--pools: a speaker of the corpus is in every pool; build one with --exclude-speakers")
        if without:
            options = tuple(sorted({**dict(voice.options), "pool": str(without[0])}.items()))
            found[speaker] = dataclasses.replace(voice, options=options)
    return found


def speakers_in_pool(voice: Spec, speakers: Iterable[str]) -> int:
    """How many of these speakers the voice's own pool knows."""
    if "pool" not in option_names(voice.family, voice.name):
        return 0
    own = pools.load(dict(voice.options).get("pool"))
    return len(set(own.speaker.tolist()) & set(speakers))
