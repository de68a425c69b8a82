"""Audio that is embedded in a column of a Parquet or Arrow file, read one row group at a time.

Hugging Face datasets keep audio as a struct {bytes, path}. A reference names file, column and row; only the row group
of that row is read, and the last one is kept, since neighbours are asked for next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce.models import arrow_stream
from sottovoce.models.audio_refusals import AudioMissing, AudioUnreadable
from sottovoce.models.records import AudioRef

_kept = threading.local()  # Beam runs several threads in one worker process


def embedded_bytes(ref: AudioRef, open_file: Callable[[str], Any]) -> tuple[bytes | None, str | None]:
    """(bytes, path) of the row; either may be None. `open_file` raises a Refusal where the file cannot be opened."""
    row = ref.row or 0
    if getattr(_kept, "key", None) != (ref.uri, ref.column) or not _kept.first <= row < _kept.first + len(_kept.values):
        _keep_group_of(ref, row, open_file)
    value = _kept.values[row - _kept.first].as_py()
    if isinstance(value, dict):
        return value.get("bytes"), value.get("path")
    if isinstance(value, bytes):
        return value, None
    if isinstance(value, str):
        return None, value
    raise AudioMissing


def _keep_group_of(ref: AudioRef, row: int, open_file: Callable[[str], Any]) -> None:
    import pyarrow

    _kept.key = None
    with open_file(ref.uri) as file:
        try:
            sizes, read = _groups(ref, file)
            ends = np.cumsum(sizes)
            group = int(np.searchsorted(ends, row, side="right"))
            if group >= len(sizes) or row < 0:
                raise AudioMissing
            values = read(group)
        except (pyarrow.ArrowException, OSError, KeyError):
            raise AudioUnreadable from None
    _kept.key, _kept.first, _kept.values = (ref.uri, ref.column), int(ends[group]) - sizes[group], values


def _groups(ref: AudioRef, file: Any) -> tuple[list[int], Callable[[int], Any]]:
    """Rows of each row group (of an Arrow file: record batch), and how to read the audio column of one."""
    import pyarrow.parquet

    if ref.uri.endswith(arrow_stream.SUFFIX):
        source = arrow_stream.as_source(file)
        batches = list(arrow_stream.record_batches(source))
        offsets, sizes = [offset for offset, _ in batches], [rows for _, rows in batches]
        return sizes, lambda group: arrow_stream.read_record_batch(source, offsets[group]).column(ref.column)
    parquet = pyarrow.parquet.ParquetFile(file)
    sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
    return sizes, lambda group: parquet.read_row_group(group, columns=[ref.column]).column(ref.column)
