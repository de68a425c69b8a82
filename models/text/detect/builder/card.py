"""The model card that a build writes beside its weights: what went in, how it was made, what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_card(
    out: Path, *, arch: str, types: Sequence[str], utterances: Mapping[str, int], options: Mapping[str, Any],
    history: Sequence[Mapping[str, float]], measured: Mapping[str, Mapping[str, Any]], notes: str = "",
) -> None:  # fmt: skip
    """Writes `MODEL_CARD.md` into `out`. `measured`: by set, what `Measured.as_dict` gives."""
    lines = [
        f"# Model card: {out.name}",
        "",
        f"Finds sensitive words of the types {', '.join(types)}. Architecture: {arch}. Made by `sottovoce build text`.",
        *([notes.strip()] if notes else []),
        "",
        "## Learnt from",
        *(f"* {corpus}: {number:,} utterances in the pool" for corpus, number in utterances.items()),
        "",
        "## Made with",
        *(f"* {key}: {value}" for key, value in options.items()),
        "",
        "## Dev data after each epoch (word sensitive or not)",
        *_history(history),
        "",
        "## Measured on dev data (`models/text/detect/measure.py` says what is counted)",
        "| set | utterances | token recall | 95 % | over-masking |",
        "|---|---|---|---|---|",
        *(_row(name, row) for name, row in measured.items()),
        "",
        "## Limits",
        "What it misses stays in the clear. It knows the language and the kinds of text it learnt from; measure it on yours",
        "with `sottovoce evaluate detect` before you rely on it. A model may hold traces of its training text: share it with",
        "nobody who may not see that text, unless the text was sanitised first.",
    ]
    (out / "MODEL_CARD.md").write_text("\n".join(lines) + "\n", "utf-8")


def _history(history: Sequence[Mapping[str, float]]) -> Iterator[str]:
    names = [name for name in (history[0] if history else {}) if name != "epoch"]
    yield f"| epoch | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for row in history:
        yield f"| {row['epoch']:.0f} | {' | '.join(f'{row[name]:.3f}' for name in names)} |"


def _row(name: str, row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    return (
        f"| {name} | {row['utterances']:,} | {100 * row['recall']:.1f} | {100 * low:.1f} to {100 * high:.1f} "
        f"| {100 * row['over_masking']:.2f} |"
    )
