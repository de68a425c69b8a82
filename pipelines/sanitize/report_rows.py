"""What the report tells whoever trains on a run: what was found in each data set, how long its rows are and how they are
labelled, before and after. After is read from the released rows; before is what the sinks were given (`tally.Given`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.speech.masked_words import MISFIT

MOST_LABELS = 15
WANTED = ("text", "duration_s", "intent", "turns")


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that another part of the project adds to the report: a table, and what to make of it. `bars` has, for each row,
    shares from 0 to 1 that are drawn behind it, one bar under the other."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    bars: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Released:
    """Of one data set; a turn of a dialogue counts as a text of its own."""

    seconds: np.ndarray
    words: Counter[int]
    labels: Counter[str]


def sections_of_rows(
    record: Mapping[str, Any], path_of: Callable[[str], str], given: Mapping[str, Any] | None = None
) -> tuple[Section, ...]:
    """`given` is None where nothing of the corpus is told: in a crowd release, and after somebody was forgotten."""
    released = {}
    for sink in record["counts"]["rows"]:
        paths = [path_of(shard["path"]) for shard in record["shards"] if shard["sink"] == sink and shard["rows"]]
        if paths:
            released[sink] = _released([_columns(path) for path in paths])
    before = given or {}
    sections = [_spans(before), _lengths(released, before), *(_labels(sink, released, before) for sink in released)]
    return tuple(section for section in sections if section is not None)


def _spans(given: Mapping[str, Any]) -> Section | None:
    kinds = sorted({kind for sink in given.values() for kind in sink["spans"]})
    if not kinds:
        return None
    rows = [(kind, *(f"{sink['spans'].get(kind, 0):,}" for sink in given.values())) for kind in kinds]
    rows.append(("all", *(f"{sum(sink['spans'].values()):,}" for sink in given.values())))
    note = "By the detectors and the corpus's own labels, before anything was replaced or masked; what they miss is not in it."
    if MISFIT in kinds:
        note += " MISFIT: words that the aligner did not find in the sound, and words beside them, in neither text nor speech."
    return Section("Sensitive stretches found, by type and data set", ("type", *given), tuple(rows), note)


def _lengths(released: Mapping[str, _Released], given: Mapping[str, Any]) -> Section | None:
    rows: list[tuple[str, ...]] = []
    for sink, own in released.items():
        if own.seconds.size:
            rows.append((sink, "seconds", "after", *_middle(own.seconds)))
        if sink in given:
            counts = {int(words): number for words, number in given[sink]["words"].items()}
            rows.append((sink, "words", "before", *_middle(_repeated(counts))))
        if own.words:
            rows.append((sink, "words", "after", *_middle(_repeated(own.words))))
    note = "Before: of an utterance that the data set was given. After: of a released slice, line, example or turn."
    columns = ("data set", "in", "", "10 %", "middle", "90 %", "all")
    return Section("How long its rows are", columns, tuple(rows), note) if rows else None


def _labels(sink: str, released: Mapping[str, _Released], given: Mapping[str, Any]) -> Section | None:
    """Labels that no released row carries are counted together: they would be published by this table alone."""
    after = released[sink].labels
    if not after:
        return None
    before = Counter(given[sink]["labels"]) if sink in given else Counter()
    shown = [label for label, _ in after.most_common(MOST_LABELS)]
    most = max(*(after[label] for label in shown), *(before[label] for label in shown))
    rows = [(label, *([f"{before[label]:,}"] if before else []), f"{after[label]:,}") for label in shown]
    bars = [((before[label] / most,) if before else ()) + (after[label] / most,) for label in shown]
    lost = sum(before.values()) - sum(before[label] for label in after)
    rest = sum(after.values()) - sum(after[label] for label in shown)
    notes = (
        [f"The {MOST_LABELS} most frequent of {len(after)}; {rest:,} rows have another."]
        if len(after) > MOST_LABELS
        else []
    )
    notes += [f"{lost:,} records have labels of which no row was released; they are not named."] if lost else []
    columns = ("intent", *(["before"] if before else []), "after", "")
    title = f"How the rows of {sink} are labelled"
    return Section(title, columns, tuple((*row, "") for row in rows), " ".join(notes), tuple(bars))


def _released(tables: Iterable[pa.Table]) -> _Released:
    seconds: list[np.ndarray] = []
    words, labels = Counter[int](), Counter[str]()
    for table in tables:
        if "turns" in table.column_names:  # of a dialogue: each is a text with its label
            table = pa.Table.from_batches(
                [pa.RecordBatch.from_struct_array(chunk.flatten()) for chunk in table["turns"].chunks]
            )
        if "duration_s" in table.column_names:
            seconds.append(table["duration_s"].to_numpy())
        if "text" in table.column_names:
            words.update(pc.list_value_length(pc.utf8_split_whitespace(table["text"])).to_pylist())
        if "intent" in table.column_names:
            labels.update(label for label in table["intent"].to_pylist() if label is not None)
    return _Released(np.concatenate(seconds) if seconds else np.zeros(0), words, labels)


def _middle(found: np.ndarray) -> tuple[str, ...]:
    return (*(f"{value:.3g}" for value in np.percentile(found, [10, 50, 90])), f"{found.sum():,.0f}")


def _repeated(counts: Mapping[int, int]) -> np.ndarray:
    return np.repeat(np.array(list(counts), dtype=np.int64), list(counts.values()))


def _columns(path: str) -> pa.Table:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        parquet = pq.ParquetFile(file)
        return parquet.read(columns=[name for name in WANTED if name in parquet.schema_arrow.names])
