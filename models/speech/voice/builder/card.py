"""The card that a build writes beside its pool: whose speech went in, how the network was made, what it is not for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sottovoce.models.speech.voice.builder.examples import Heard
from sottovoce.models.speech.voice.pool import Pool


def write_card(out: Path, pool: Pool, heard: Sequence[Heard], options: Any, said: Sequence[str]) -> None:
    """Writes MODEL_CARD.md into `out`; of `heard` only the pool's speakers count, `said` are the lines that training printed."""
    own = [item for item in heard if item.speaker in set(pool.speaker.tolist())]
    minutes = sum(len(item.features) for item in own) / 6000
    genders = Counter(pool.gender.tolist())
    lines = [
        f"# Model card: {out.name}",
        "",
        "A pool of speakers (`pool.npz`) and the phone network that speaks with mixes of their voices (`network.npz`), for",
        "`voice: phonetic`; frames of some of them (`frames.npz`), for `voice: frame_knn`; up to 400 of their sounds of each",
        "phone (`sounds.npz`), for `voice: {use: phonetic, nearest: N}`. Made by `sottovoce build voice`.",
        "",
        "## Learnt from",
        f"{len(own):,} utterances, {minutes:.0f} minutes, of {len(pool)} speakers ({genders['f']} f, {genders['m']} m).",
        "",
        "## Made with",
        *(f"* {key}: {value}" for key, value in asdict(options).items()),
        "",
        "## Training",
        *(f"* {line}" for line in said),
        "",
        "## Limits",
        "English only. A mix of several speakers is spoken, never one alone; still, build pools only from people whose",
        "recordings may be used so. Figures on privacy and intelligibility come from `sottovoce evaluate voice`, on speakers",
        "that the pool has not heard.",
    ]
    (out / "MODEL_CARD.md").write_text("\n".join(lines) + "\n", "utf-8")
