"""Take FARGAN (fargan.onnx) and the pitch tracker (opus_pitch.npz) out of Opus' C source: models/speech/voice/weights.

    python tools/extract_fargan.py [--crate opusic-sys-0.5.8.crate]

The crate opusic-sys carries the source of Opus 1.5 with its weights (BSD-3-Clause; NOTICE has the licence). Without
`--crate` it is downloaded. Weights stay in eight bits, as they are in the source, and are put in the order [in, out].
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import tarfile
import urllib.request
from pathlib import Path

import numpy as np

from sottovoce.models.speech.voice.builder.vocoder_graph import vocoder_graph
from sottovoce.models.speech.voice.fargan import FILE as VOCODER
from sottovoce.models.speech.voice.fargan import PRIMING
from sottovoce.models.speech.voice.opus_pitch import FILE as PITCH_TRACKER

URL = "https://static.crates.io/crates/opusic-sys/opusic-sys-0.5.8.crate"
SHA256 = "8f43c183739dc81651487e7c9f3e4330fe4a3fd26c0fa961c788ce5fb21fa75b"
SOURCE = "opusic-sys-0.5.8/opus/dnn/{}_data.c"
ARRAY = re.compile(r"static const (?:float|opus_int8) (\w+)\[(\d+)\] = \{([^}]*)\}")
LINEAR = re.compile(r"linear_init\(&model->(\w+),arrays,([^)]*)\)")
CONVOLUTION = re.compile(r"conv2d_init\(&model->(\w+),arrays,[^)]*?,(\d+),(\d+),(\d+),(\d+)\)")


def arrays_of(source: str) -> dict[str, np.ndarray]:
    found = {}
    for name, length, body in ARRAY.findall(source):
        numbers = re.sub(r"f\b", "", body).replace("\n", " ").strip().rstrip(",").split(",")
        found[name] = np.array(numbers, np.float64)
        assert len(found[name]) == int(length), name
    return found


def layers_of(source: str) -> dict[str, np.ndarray]:
    """`<layer>.weight` [in, out], `<layer>.scale` [out] where the weight is eight bits wide, `<layer>.bias` [out]."""
    arrays = arrays_of(source)
    layers: dict[str, np.ndarray] = {}
    for name, arguments in LINEAR.findall(source):
        inputs, outputs = map(int, arguments.split(",")[-2:])
        if f"{name}_weights_int8" in arrays:  # stored in blocks of 8 outputs by 4 inputs, for SIMD
            blocks = arrays[f"{name}_weights_int8"].reshape(outputs // 8, inputs // 4, 8, 4)
            layers[f"{name}.weight"] = blocks.transpose(1, 3, 0, 2).reshape(inputs, outputs).astype(np.int8)
            layers[f"{name}.scale"] = (127 * arrays[f"{name}_scale"]).astype(np.float32)
        else:
            layers[f"{name}.weight"] = arrays[f"{name}_weights_float"].reshape(inputs, outputs).astype(np.float32)
        bias = arrays.get(f"{name}_bias", np.zeros(outputs))
        layers[f"{name}.bias"] = bias.astype(np.float32)
    for name, *shape in CONVOLUTION.findall(source):
        inputs, outputs, times, heights = map(int, shape)
        weight = arrays[f"{name}_weight_float"].reshape(outputs, inputs, times, heights)
        layers[f"{name}.weight"] = weight.astype(np.float32)
        layers[f"{name}.bias"] = arrays[f"{name}_bias"].astype(np.float32)
    return layers


def main() -> None:
    parser = argparse.ArgumentParser(description="Extract Opus' networks for models/speech/voice.")
    parser.add_argument("--crate", type=Path, help="the crate, where it is at hand; else it is downloaded")
    crate = parser.parse_args().crate
    content = crate.read_bytes() if crate else urllib.request.urlopen(URL, timeout=120).read()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit("the crate is not opusic-sys 0.5.8 as it was when this tool was written")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        vocoder, pitch_tracker = (layers_of(_text(archive, SOURCE.format(name))) for name in ("fargan", "pitchdnn"))
    VOCODER.parent.mkdir(exist_ok=True)
    VOCODER.write_bytes(vocoder_graph(vocoder, PRIMING))
    np.savez_compressed(PITCH_TRACKER, **pitch_tracker)  # type: ignore[arg-type]
    for file, layers in ((VOCODER, vocoder), (PITCH_TRACKER, pitch_tracker)):
        print(f"{file.name}: {sum(a.size for a in layers.values()):,} numbers, {file.stat().st_size:,} bytes")


def _text(archive: tarfile.TarFile, name: str) -> str:
    file = archive.extractfile(name)
    assert file is not None
    return file.read().decode()


if __name__ == "__main__":
    main()
