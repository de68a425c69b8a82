"""From heard utterances to a folder with a pool and its phone network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.speech.speakers.plda import Plda, fit, unit
from sottovoce.models.speech.voice import phone_network
from sottovoce.models.speech.voice import pool as pools
from sottovoce.models.speech.voice.builder.examples import Heard, SpeechExample, example_of
from sottovoce.models.speech.voice.builder.frames import frames_of
from sottovoce.models.speech.voice.builder.sounds import sounds_of
from sottovoce.models.speech.voice.builder.speakers import (
    gender_by_pitch,
    log_durations,
    log_f0_quantiles,
    silence_of,
    spreads,
)
from sottovoce.models.speech.voice.pool import Pool

if TYPE_CHECKING:
    from sottovoce.models.speech.voice.builder.training import VoiceTraining

FEWEST_SPEAKERS = 4
Say = Callable[[str], None]


def build(
    heard: Sequence[Heard], out: Path, options: VoiceTraining, say: Say, exclude: Collection[str] = (),
    start: Path | None = None,
) -> Pool:  # fmt: skip
    """Train on everybody but `exclude`, and write the pool and its network to `out`.

    `start`: a folder to go on from, whose network knows the phones already: a pool of other speakers then takes minutes.
    """
    from sottovoce.models.speech.voice.builder.training import train

    voices = _by_speaker([item for item in heard if item.speaker not in exclude])
    names, examples = list(voices), [example for own in voices.values() for example in own]
    say(f"{len(examples):,} utterances of {len(names):,} speakers")
    begin, scale = _started(start, names) if start else (None, None)
    arrays, embedded = train(examples, len(names), options, say, begin, scale)
    embeddings, plda = _selection(heard, names)
    told = {item.speaker: item.gender for item in heard}
    quantiles = np.stack([np.asarray(log_f0_quantiles(own)) for own in voices.values()])
    genders = [told[name] or gender_by_pitch(row) for name, row in zip(names, quantiles, strict=True)]
    pool = Pool(
        speaker=np.array(names),
        gender=np.array(genders),
        embedding=embeddings,
        voice=embedded,
        log_f0_quantiles=quantiles,
        log_duration=log_durations(list(voices.values())),
        plda=plda,
    )
    out.mkdir(parents=True, exist_ok=True)
    pool.save(out)
    if frames := frames_of(list(voices.values()), pool):
        frames.save(out)
    arrays |= spreads(examples) | {"silence": silence_of(examples)}
    phone_network.save(arrays, out)
    sounds_for(out, heard, exclude)
    return pool


def sounds_for(out: Path, heard: Sequence[Heard], exclude: Collection[str] = ()) -> int:
    """Write the sounds of everybody but `exclude`, as the network of the pool in `out` expects them; how many they are."""
    examples = [
        example_of(item, 0) for item in sorted(heard, key=lambda item: item.utterance) if item.speaker not in exclude
    ]
    middle = pools.load(out).voice.mean(axis=0).astype(np.float32)
    sounds = sounds_of(examples, phone_network.load(out), middle)
    sounds.save(out)
    return len(sounds.phone)


def _selection(heard: Sequence[Heard], names: Sequence[str]) -> tuple[np.ndarray, Plda | None]:
    """The mean embedding of each speaker [n, d] and the PLDA of all recordings; d is 0 where nothing was embedded."""
    own = {name: [h.embedding for h in heard if h.speaker == name and h.embedding is not None] for name in names}
    if not all(own.values()):
        return np.zeros((len(names), 0)), None
    means = np.stack([unit(np.stack(rows)).mean(axis=0) for rows in own.values()])
    if sum(len(rows) > 1 for rows in own.values()) < 2:
        return means, None
    return means, fit(np.concatenate([np.stack(rows) for rows in own.values()]), [n for n in names for _ in own[n]])


def _by_speaker(heard: Sequence[Heard]) -> dict[str, list[SpeechExample]]:
    """Examples by speaker, numbered in order; speakers with too little voiced speech are left out."""
    found: dict[str, list[Heard]] = {}
    for item in sorted(heard, key=lambda item: (item.speaker, item.utterance)):
        found.setdefault(item.speaker, []).append(item)
    out: dict[str, list[SpeechExample]] = {}
    for speaker, items in found.items():
        examples = [example_of(item, len(out)) for item in items]
        if log_f0_quantiles(examples) is not None:
            out[speaker] = examples
    if len(out) < FEWEST_SPEAKERS:
        raise CorpusError(f"a pool needs speech of at least {FEWEST_SPEAKERS} speakers; usable here: {len(out)}")
    return out


def _started(folder: Path, names: Sequence[str]) -> tuple[Callable, np.ndarray]:
    """What puts an earlier network, and the voices it knows, into a new one; and the unit it counts in."""
    import torch

    network = phone_network.load(folder)
    known = pools.load(folder)
    rows = {name: row for row, name in enumerate(known.speaker)}

    def begin(networks: object) -> None:
        for stack in phone_network.STACKS:
            getattr(networks, stack).start_from(getattr(network, stack).weights)
        with torch.no_grad():
            table = networks.voice.weight  # type: ignore[attr-defined]
            for number, name in enumerate(names):
                row = rows.get(name)
                table[number] = torch.from_numpy(known.voice.mean(axis=0) if row is None else known.voice[row])

    return begin, network.cepstra_unit
