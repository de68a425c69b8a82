"""From heard utterances to a folder with a pool and its phone network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.voice import phone_network
from sottovoce.models.voice import pool as pools
from sottovoce.models.voice.builder.examples import Example, Heard, example_of
from sottovoce.models.voice.builder.speakers import log_durations, log_f0_quantiles, silence_of, spreads
from sottovoce.models.voice.pool import Pool

FEWEST_SPEAKERS = 4
Say = Callable[[str], None]


def build(
    heard: Sequence[Heard], out: Path, options: object, say: Say, exclude: Collection[str] = (),
    embeddings: Mapping[str, np.ndarray] | None = None, start: Path | None = None,
) -> Pool:  # fmt: skip
    """Train on everybody but `exclude`, and write the pool and its network to `out`.

    `embeddings`: what a speaker encoder says of each speaker, for selection. `start`: a folder to go on from, whose
    network knows the phones already: a pool of other speakers then takes minutes.
    """
    from sottovoce.models.voice.builder.training import Training, train

    assert isinstance(options, Training)
    voices = _by_speaker(heard, exclude)
    say(f"{sum(map(len, voices.values())):,} utterances of {len(voices):,} speakers")
    names = list(voices)
    examples = [example for own in voices.values() for example in own]
    begin, unit = _started(start, names) if start else (None, None)
    arrays, embedded = train(examples, len(names), options, say, begin, unit)
    quiet = {"silence": silence_of(examples)}
    genders = {item.speaker: item.gender for item in heard}
    pool = Pool(
        speaker=np.array(names),
        gender=np.array([genders[name] for name in names]),
        embedding=np.stack([embeddings[name] for name in names]) if embeddings else np.zeros((len(names), 0)),
        voice=embedded,
        log_f0_quantiles=np.stack([log_f0_quantiles(own) for own in voices.values()]),
        log_duration=log_durations(list(voices.values())),
    )
    out.mkdir(parents=True, exist_ok=True)
    pool.save(out)
    phone_network.save(arrays | spreads(examples) | quiet, out)
    return pool


def _by_speaker(heard: Sequence[Heard], exclude: Collection[str]) -> dict[str, list[Example]]:
    """Examples by speaker, numbered in order; speakers with too little voiced speech are left out."""
    found: dict[str, list[Heard]] = {}
    for item in sorted(heard, key=lambda item: (item.speaker, item.utterance)):
        if item.speaker not in exclude:
            found.setdefault(item.speaker, []).append(item)
    out: dict[str, list[Example]] = {}
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
