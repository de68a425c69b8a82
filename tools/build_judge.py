"""The network that judges alignments beside pocketsphinx: `python tools/build_judge.py MANIFEST ...`.

Recordings with transcripts (`tools/speech_manifest.py`) are aligned by pocketsphinx alone; the network learns which phone each
frame belongs to. Words that fit badly teach nothing. Bands are tilted, drowned in noise and blanked out on the way, so that a
room, a line or a level does not count as another phone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

from sottovoce.models.errors import Refusal
from sottovoce.models.records import AudioRef, Word
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.align.phone_judge import DILATIONS, JUDGE, LABELS, heard_bands
from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.mel_bands import BANDS

WIDTH, FIRST_KERNEL, KERNEL, FRAMES, BATCH, RATE = 192, 5, 3, 200, 24, 4e-3
UNKNOWN = -1
LEAST_CONFIDENCE = 0.12  # of a word that teaches
TELEPHONE_BAND = 28  # the first above 4 kHz

Example = tuple[np.ndarray, np.ndarray]  # bands and labels of each frame


class PhoneNetwork(nn.Module):
    """Bands [batch, BANDS, frames] -> what speaks for each label [batch, labels, frames]."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(BANDS, WIDTH, FIRST_KERNEL, padding=FIRST_KERNEL // 2)
        self.first_norm = nn.BatchNorm1d(WIDTH)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=by, dilation=by) for by in DILATIONS)
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in DILATIONS)
        self.drop = nn.Dropout(0.15)
        self.last = nn.Conv1d(WIDTH, len(LABELS), 1)

    def forward(self, bands: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first_norm(self.first(bands)))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + self.drop(torch.relu(norm(layer(x))))
        out: torch.Tensor = self.last(x)
        return out

    def folded(self) -> dict[str, np.ndarray]:
        """Its weights, each norm folded into the layer before it."""
        pairs = [(self.first, self.first_norm), *zip(self.layers, self.norms, strict=True)]
        found = {"w_last": self.last.weight, "b_last": self.last.bias}
        for number, (layer, norm) in enumerate(pairs):
            scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            found[f"w{number}"] = layer.weight * scale[:, None, None]
            found[f"b{number}"] = (layer.bias - norm.running_mean) * scale + norm.bias
        return {name: values.detach().numpy().astype(np.float16) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("manifest", type=Path, nargs="+", help="JSON lines with audio_filepath and text")
    parser.add_argument("--exclude-speakers", type=Path, help="speakers to leave out, one id a line")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--out", type=Path, default=JUDGE)
    args = parser.parse_args()
    left_out = set(args.exclude_speakers.read_text("utf-8").split()) if args.exclude_speakers else set()
    rows = [json.loads(line) for path in args.manifest for line in path.read_text("utf-8").splitlines()]
    data = examples([row for row in rows if row.get("speaker_id") not in left_out])
    print(f"{len(data)} of {len(rows)} recordings, {sum(len(bands) for bands, _ in data) / 6000:.1f} min", flush=True)
    np.savez_compressed(args.out, **trained(data, args.steps).folded())


def examples(rows: list[dict[str, str]]) -> list[Example]:
    # Single words may fit badly here: they are left out one by one.
    aligner = PocketSphinx(misfits="refuse", floor=-1.5, word_floor=-20.0, pause_floor=-70.0, phone_floor=-500.0)
    aligner.setup()
    found = []
    for row in rows:
        try:
            speech = load(AudioRef(row["audio_filepath"]))
            bands = heard_bands(sphinx.pcm_of(speech))
            found.append((bands.astype(np.float32), labels(aligner.align(speech, row["text"]), len(bands))))
        except Refusal:
            continue
    return found


def labels(words: tuple[Word, ...], frames: int) -> np.ndarray:
    """The label of each frame; where no word is, silence."""
    found = np.zeros(frames, np.int64)
    for word in words:
        for phone in word.phones:
            place = slice(round(phone.begin_s * 100), round(phone.end_s * 100))
            found[place] = LABELS[phone.label] if word.confidence >= LEAST_CONFIDENCE else UNKNOWN
    return found


def trained(data: list[Example], steps: int) -> PhoneNetwork:
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    network = PhoneNetwork().train()
    optimiser = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-3)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    shares = np.array([len(bands) for bands, _ in data], float)
    for step in range(1, steps + 1):
        chosen = draw.choice(len(data), BATCH, p=shares / shares.sum())
        bands, wanted = map(np.stack, zip(*(_piece(*data[row], draw) for row in chosen), strict=True))
        loss = nn.functional.cross_entropy(
            network(torch.from_numpy(bands).transpose(1, 2)), torch.from_numpy(wanted), ignore_index=UNKNOWN
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        pace.step()
        if step % 200 == 0:
            print(step, f"{float(loss.detach()):.3f}", flush=True)
    return network.eval()


def _piece(bands: np.ndarray, wanted: np.ndarray, draw: np.random.Generator) -> Example:
    """FRAMES of a recording, as another room or line would have given them."""
    begin = int(draw.integers(max(1, len(bands) - FRAMES + 1)))
    x, y = bands[begin : begin + FRAMES].copy(), wanted[begin : begin + FRAMES]
    x += np.interp(np.arange(BANDS), np.linspace(0, BANDS - 1, 5), draw.normal(0, 0.5, 5))
    if draw.random() < 0.5:
        x = np.logaddexp(x, draw.uniform(-12, -4) + draw.normal(0, 0.3, x.shape))
    if draw.random() < 0.3:
        first = int(draw.integers(30))
        x[:, first : first + int(draw.integers(1, 8))] = 0
    if draw.random() < 0.15:
        above = x[:, TELEPHONE_BAND:]
        x[:, TELEPHONE_BAND:] = above.mean(axis=0) + draw.normal(0, 0.5, above.shape)
    missing = FRAMES - len(x)
    return np.pad(x.astype(np.float32), ((0, missing), (0, 0))), np.pad(y, (0, missing), constant_values=UNKNOWN)


if __name__ == "__main__":
    main()
