"""Audio that is embedded in a column of a Parquet or Arrow file, read one row group at a time.

Hugging Face datasets keep audio as a struct {bytes, path}, some as {array, sampling_rate}. A reference names
file, column and row; only the row group of that row is read, and the last one is kept, since neighbours are asked for next.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce.models.corpus import arrow_stream
from sottovoce.models.corpus.parquet_bounds import MAX_GROUP_BYTES, TooLarge, rows_at_once
from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio_refusals import AudioMissing, AudioTooLarge, AudioUnreadable

ROWS = 64
_kept = threading.local()  # Beam runs several threads in one worker process


def embedded_bytes(ref: AudioRef, open_file: Callable[[str], Any]) -> tuple[bytes | None, str | None]:
    """(bytes, path) of the row; either may be None. `open_file` raises a Refusal where the file cannot be opened."""
    row = ref.row or 0
    if getattr(_kept, "key", None) != (ref.uri, ref.column) or not _kept.first <= row < _kept.first + len(_kept.values):
        _keep_group_of(ref, row, open_file)
    value = _value(_kept.values.slice(row - _kept.first, 1))
    if isinstance(value, dict) and value.get("array") is not None:
        return _as_file(value["array"], value.get("sampling_rate")), None
    if isinstance(value, dict):
        return value.get("bytes"), value.get("path")
    if isinstance(value, bytes):
        return value, None
    if isinstance(value, str):
        return None, value
    raise AudioMissing


def _as_file(samples: Any, rate_hz: Any) -> bytes:
    """Decoded samples, in one channel or a list for each, as a file of the same samples: one way in has all the checks."""
    import soundfile

    out = io.BytesIO()
    try:
        wave = np.asarray(samples, dtype=np.float32)
        soundfile.write(out, wave.T if wave.ndim == 2 else wave, rate_hz, format="WAV", subtype="FLOAT")
    except (TypeError, ValueError, OverflowError, soundfile.SoundFileError):
        raise AudioUnreadable from None
    return out.getvalue()


def _value(row: Any) -> Any:
    """Arrow trusts the offsets of a file: without the check audio could be whatever lies beside it in memory."""
    import pyarrow

    try:
        row.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise AudioUnreadable from None
    return row[0].as_py()


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
        except TooLarge:
            raise AudioTooLarge from None
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
    return sizes, lambda group: _read_group(parquet, file, group, str(ref.column))


def _read_group(parquet: Any, file: Any, group: int, column: str) -> Any:
    """The audio of a row group, a few rows at a time: rows that share a value are large only once they are read."""
    import pyarrow

    if column not in parquet.schema_arrow.names:
        raise KeyError(column)
    rows, parts, held = rows_at_once(file, parquet.metadata.row_group(group), [column], ROWS), [], 0
    for batch in parquet.iter_batches(rows, row_groups=[group], columns=[column], use_threads=False):
        parts.append(batch.column(0))
        held += parts[-1].nbytes
        if held > MAX_GROUP_BYTES:
            raise TooLarge
    return pyarrow.chunked_array(parts)
