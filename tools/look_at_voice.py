"""Look at the samples that `sottovoce evaluate voice` kept: spectrograms side by side, and what a listener would call a defect.

    python tools/look_at_voice.py out/voice/samples --out look.png

For every recording before and after: level, highest peak, samples at full scale, constant offset, and the largest steps from
one sample to the next, all but the counts relative to the level. A click is a step far above those of natural speech.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import soundfile

FULL_SCALE = 0.99
DIGITS = {"level": 4, "peak": 2, "full scale": 0, "offset": 4, "step 99.9 %": 2, "largest step": 2}


def figures(samples: np.ndarray) -> dict[str, float]:
    level = float(np.sqrt(np.mean(samples**2)))
    steps = np.abs(np.diff(samples)) / level
    return {
        "level": level,
        "peak": float(np.abs(samples).max()),
        "full scale": float((np.abs(samples) >= FULL_SCALE).sum()),
        "offset": abs(float(samples.mean())) / level,
        "step 99.9 %": float(np.quantile(steps, 0.999)),
        "largest step": float(steps.max()),
    }


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    parser = argparse.ArgumentParser(description="spectrograms and defects of samples before and after")
    parser.add_argument("samples", type=Path)
    parser.add_argument("--out", type=Path, default=Path("look.png"))
    parser.add_argument("--shown", type=int, default=4, help="pairs in the picture (default 4); all are in the table")
    args = parser.parse_args()
    befores = sorted(args.samples.glob("*_before.flac"))
    shown = min(args.shown, len(befores))
    figure, panels = pyplot.subplots(shown, 2, figsize=(20, 4 * shown), squeeze=False)
    print("sample".ljust(12), *(name.rjust(12) for name in DIGITS))
    for number, before in enumerate(befores):
        for column, file in enumerate((before, before.with_name(before.name.replace("_before", "_after")))):
            samples, rate_hz = soundfile.read(file)
            print(file.stem.ljust(12), *(f"{value:12.{DIGITS[name]}f}" for name, value in figures(samples).items()))
            if number < shown:
                panel = panels[number, column]
                panel.specgram(samples, NFFT=400, noverlap=320, Fs=rate_hz, vmin=-140, vmax=-40)
                panel.set_title(file.stem)
    figure.tight_layout()
    figure.savefig(args.out, dpi=60)
    print(f"written: {args.out} (shows original voices: keep it as you keep the corpus)")


if __name__ == "__main__":
    main()
