"""A trained classifier as a folder that `Tagger` loads: int8 ONNX network, tokenizer, labels, bias.

Weights are quantised per output channel to int8, activations dynamically; word embeddings as well, which are half of the
file. The exported network is run beside the original before anything is written in its place: a model that does not
come back the same is an error, never a silent loss.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from sottovoce.models.errors import RunError
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.gram_network import GramTagger, GramTrained
from sottovoce.models.text.detect.builder.transformer import Trained
from sottovoce.models.text.detect.grams import encode
from sottovoce.models.text.detect.pieces import NETWORK, SETTINGS, TOKENIZER, Pieces
from sottovoce.models.text.detect.tagger import load

AGREEMENT = 0.97


def export(
    trained: Trained, encoder_folder: Path, window: int, outside_bias: float, probes: Sequence[str], out: Path
) -> None:
    """Write the folder `out`, having checked on `probes` that the quantised network labels words as the original does."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        plain = Path(work) / "plain.onnx"
        _to_onnx(trained, plain)
        _quantise(plain, out / NETWORK)
    shutil.copyfile(encoder_folder / TOKENIZER, out / TOKENIZER)
    write_settings(out, trained.names, window, outside_bias)
    same = agreement(trained, out, probes)
    if same < AGREEMENT:
        (out / NETWORK).unlink()
        raise RunError(
            f"the quantised network agrees with the original on {same:.3f} of the words; at least {AGREEMENT} needed"
        )


def export_grams(trained: GramTrained, rows: int, probes: Sequence[tuple[str, str]], out: Path) -> None:
    """The same of a tagger that reads n-grams; `probes` are (language, text)."""
    with tempfile.TemporaryDirectory() as work:
        plain = Path(work) / "plain.onnx"
        axes = {0: "batch", 1: "words"}
        torch.onnx.export(
            PackedTagger(trained.model).eval(), (torch.ones(1, 8, 4, dtype=torch.int64),), str(plain), input_names=["grams"],
            output_names=["logits"], dynamic_axes={"grams": axes | {2: "grams"}, "logits": axes}, opset_version=17, dynamo=False,
        )  # fmt: skip
        _quantise(plain, out / NETWORK, ["LSTM", "MatMul"])  # the table is packed already
    write_gram_settings(out, trained, rows, {})
    trained.known.write(out)
    network, same, total = load(out), 0, 0
    for code, text in probes:
        words, quantised = network.scored([text], code)[0]
        bags = encode(
            [text[begin:end] for begin, end in words], code, trained.languages.index(code), rows, trained.known
        )
        with torch.inference_mode():
            original = trained.model(torch.from_numpy(bags[None]))[0, 1:].numpy()
        same += int((original.argmax(1) == quantised.argmax(1)).sum())
        total += len(words)
    if same < AGREEMENT * total:
        (out / NETWORK).unlink()
        raise RunError(f"the quantised network agrees on {same / total:.3f} of the words; at least {AGREEMENT} needed")


class PackedTagger(torch.nn.Module):
    """The same network with two numbers of its rounded table in a byte."""

    packed: torch.Tensor
    scale: torch.Tensor

    def __init__(self, model: GramTagger) -> None:
        super().__init__()
        self.model = model
        levels = (model.table.weight / model.scale[:, None]).round().to(torch.int64) + 8
        self.register_buffer("packed", (levels[:, 0::2] * 16 + levels[:, 1::2]).to(torch.uint8))
        self.register_buffer("scale", model.scale.half())

    def forward(self, bags: torch.Tensor) -> torch.Tensor:
        pairs = self.packed[bags].float()
        high = torch.floor(pairs / 16)
        steps = torch.stack([high, pairs - 16 * high], -1).flatten(-2) - 8
        weights = self.model.weights(bags) * self.scale[bags].float()
        return self.model.labels_of((steps * weights.unsqueeze(-1)).sum(2))


def write_gram_settings(out: Path, trained: GramTrained, rows: int, biases: dict[str, float]) -> None:
    """Settings of a tagger of many languages. `rows`: size of its n-gram table; `biases`: on the outside label, by language."""
    values = {
        "labels": trained.names,
        "rows": rows,
        "languages": trained.languages,
        "outside_bias": 0.0,
        "biases": biases,
    }
    (out / SETTINGS).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def write_settings(
    out: Path,
    names: Sequence[str],
    window: int,
    outside_bias: float,
    type_bias: Mapping[str, float] | None = None,
    seeds: Mapping[str, float] | None = None,
) -> None:
    """Settings of a word-piece tagger. `window`: pieces it reads at once; `type_bias`: added to the scores of a type; `seeds`:
    what the surest word of a span must reach."""
    values = {"labels": list(names), "window": window, "outside_bias": outside_bias, "type_bias": dict(type_bias or {})}
    if seeds:
        values["seeds"] = dict(seeds)
    (out / SETTINGS).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def agreement(trained: Trained, folder: Path, probes: Sequence[str]) -> float:
    """Share of words that get the same best label from the exported folder as from the network in memory."""
    network = load(folder)
    pieces = Pieces(folder / TOKENIZER)
    short = [(text, p) for text, p in zip(probes, pieces.encode(probes), strict=True) if 0 < len(p.ids) <= 60]
    same = total = 0
    for (_, p), (_, quantised) in zip(short, network.scored([text for text, _ in short], ENGLISH), strict=True):
        ids = torch.tensor([[pieces.begin_id, *p.ids, pieces.end_id]])
        with torch.inference_mode():
            case = torch.from_numpy(np.pad(p.case, 1)[None, :])
            logits = trained.model.cpu()(ids, torch.ones_like(ids), case)[0, 1:-1].numpy()
        original = np.stack([logits[p.word_of == word].mean(0) for word in range(len(p.words))])
        same += int((original.argmax(1) == quantised.argmax(1)).sum())
        total += len(p.words)
    return same / max(total, 1)


def _to_onnx(trained: Trained, path: Path) -> None:
    ids = torch.ones(2, 8, dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    trained.model.cpu().eval()
    torch.onnx.export(
        trained.model,
        (ids, torch.ones_like(ids), torch.zeros_like(ids)),
        str(path),
        input_names=["input_ids", "attention_mask", "token_type_ids"],
        output_names=["logits"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "token_type_ids": axes, "logits": axes},
        opset_version=17,
        dynamo=False,
    )


def _quantise(plain: Path, out: Path, operators: list[str] | None = None) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready = plain.with_name("ready.onnx")
    quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)
    quantize_dynamic(str(ready), str(out), operators or None, per_channel=True, weight_type=QuantType.QInt8)
