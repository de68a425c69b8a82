"""pocketsphinx' English model in the files that sphinxtrain reads: a definition in text, and weights that are not packed.

Both formats are those of CMU Sphinx (bin_mdef.c, ptm_mgau.c in pocketsphinx; model_def_io.c, s3mixw_io.c in sphinxtrain).
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from sottovoce.models.errors import RunError

S3_HEADER, BYTE_ORDER = b"s3\nversion 1.0\nendhdr\n", 0x11223344
WEIGHT_SHIFT = 10  # weights are stored as -log_{1.0001}(w) / 2^10, in one byte
POSITIONS = "ibes"  # a phone inside a word, at its begin, at its end, alone


def write_definition(model: Path, out: Path) -> None:
    """`mdef` as text: one line for each phone in context, with the numbers of its states."""
    data = (model / "mdef").read_bytes()
    counts, skip = _counts(data), _skip(data)
    phones, entries, states, ci_senones, senones, matrices, sequences, _, tree, _ = counts
    names, at = [], skip + 40
    for _ in range(phones):
        end = data.index(b"\0", at)
        names.append(data[at:end].decode())
        at = end + 1
    at += -(at - skip) % 4 + 8 * tree
    row = np.dtype([("sequence", "<i4"), ("matrix", "<i4"), ("context", "u1", 4)])
    table = np.frombuffer(data, row, entries, at)
    numbers = np.frombuffer(data, "<u2", sequences * states, at + 12 * entries + 4).reshape(sequences, states)
    head = (phones, "n_base"), (entries - phones, "n_tri"), (entries * (states + 1), "n_state_map")
    tied = (senones, "n_tied_state"), (ci_senones, "n_tied_ci_state"), (matrices, "n_tied_tmat")
    lines = ["0.3", *(f"{count} {name}" for count, name in (*head, *tied))]
    for index, (sequence, matrix, context) in enumerate(table.tolist()):
        base, left, right, place = names[index] if index < phones else "", "-", "-", "-"
        if index >= phones:
            base, left, right = (names[number] for number in context[1:])
            place = POSITIONS[context[0]]
        kind = "filler" if index < phones and context[0] else "n/a"
        lines.append(f"{base} {left} {right} {place} {kind} {matrix} {' '.join(map(str, numbers[sequence]))} N")
    out.write_text("\n".join(lines) + "\n")


def _skip(data: bytes) -> int:
    """Where the counts begin: after a text that describes the format."""
    if data[:4] != b"BMDF":
        raise RunError("learners: the mdef of the installed pocketsphinx is not one that can be read")
    return 12 + int(struct.unpack_from("<i", data, 8)[0])


def _counts(data: bytes) -> tuple[int, ...]:
    """Phones, phones in context, states of each, senones without and with context, matrices, sequences, ..."""
    return struct.unpack_from("<10i", data, _skip(data))


def write_weights(model: Path, out: Path) -> None:
    """`sendump` as mixture weights [senones, features, densities]."""
    data = (model / "sendump").read_bytes()
    header, at = {}, 0
    while size := struct.unpack_from("<i", data, at)[0]:
        name, _, value = data[at + 4 : at + 3 + size].decode("latin-1").partition(" ")
        header[name], at = value, at + 4 + size
    features, senones = int(header["feature_count"]), _counts((model / "mdef").read_bytes())[4]
    densities = (len(data) - at) // (features * senones)
    if int(header.get("cluster_count", 0)) or int(header.get("mixture_bits", 8)) != 8:
        raise RunError("learners: the sendump of the installed pocketsphinx is packed in a way that is not known")
    packed = np.frombuffer(data[-features * densities * senones :], np.uint8).reshape(features, densities, senones)
    weights = np.power(1.0001, -packed.astype(np.float64) * (1 << WEIGHT_SHIFT)).transpose(2, 0, 1).astype("<f4")
    with open(out, "wb") as file:
        file.write(S3_HEADER + struct.pack("<5I", BYTE_ORDER, *weights.shape, weights.size))
        file.write(weights.tobytes())
