"""Take people out of one shard and out of its index: what is to be written in their place, and what that removes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.models.forget.counts import Removed
from sottovoce.models.forget.whose import Forgotten, Part
from sottovoce.models.records import Failure
from sottovoce.models.runs.places import FAILURES
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.write.index import SCHEMA, is_of, part_of_line, sorted_index
from sottovoce.transforms.write.rewrite import Columns


class ShardErasure:
    """The parts of a shard that go. `keep` is asked for each record of the shard, and counts what it takes out."""

    def __init__(self, sink: str, lines: pa.Table, forgotten: Forgotten):
        self.sink, self.removed = sink, Removed()
        mask = is_of(lines, forgotten)
        self._gone: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in lines.filter(mask).to_pylist():
            self._gone[line["id"]].append(line)
        self._rest = lines.filter(pc.invert(mask))
        self._left = self._parts_left()

    @property
    def record_type(self) -> type:
        """The dataclass of a row, which decides the columns: a released record, or a refusal."""
        return Failure if self.sink == FAILURES else sink_class(self.sink).record_type

    @property
    def records(self) -> int:
        """How many leave the shard whole."""
        return len(self._gone) - len(self._left)

    def keep(self, columns: Columns) -> Columns | None:
        """A record as it is to be written: unchanged, without the parts that go, or None where nothing is left of it."""
        name = columns["id"]
        if name not in self._gone:
            return columns
        if self.sink == FAILURES:
            self._count_refused(columns, self._gone[name])
            return None
        self._count_released(self._gone[name])
        if name not in self._left:
            self.removed.rows[self.sink] += 1
            return None
        kept = [line["place"] for line in self._left[name]]
        return sink_class(self.sink).keep_parts(columns, self._all_parts(name), kept)

    def index(self) -> pa.Table:
        """What the index says of the shard afterwards: the parts that are left of a record move up."""
        moved = [line | {"place": place} for parts in self._left.values() for place, line in enumerate(parts)]
        changed = pa.array(sorted(self._left), pa.string())
        untouched = self._rest.filter(pc.invert(pc.is_in(self._rest["id"], value_set=changed)))
        return sorted_index(pa.concat_tables([untouched, pa.Table.from_pylist(moved, schema=SCHEMA)]))

    def _parts_left(self) -> dict[str, list[dict[str, Any]]]:
        """Of records that lose some of their parts, the lines of the others, in order."""
        touched = pc.is_in(self._rest["id"], value_set=pa.array(sorted(self._gone), pa.string()))
        left: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in sorted(self._rest.filter(touched).to_pylist(), key=lambda line: line["place"]):
            left[line["id"]].append(line)
        return dict(left)

    def _all_parts(self, name: str) -> Sequence[Part]:
        lines = sorted([*self._gone[name], *self._left[name]], key=lambda line: line["place"])
        return [part_of_line(line) for line in lines]

    def _count_released(self, lines: Sequence[dict[str, Any]]) -> None:
        self.removed.parts[self.sink] += len(lines)
        self.removed.released[self.sink] += sum(line["first"] for line in lines)
        self.removed.audio_s += sum(line["audio_s"] for line in lines)

    def _count_refused(self, columns: Columns, lines: Sequence[dict[str, Any]]) -> None:
        (line,) = lines
        self.removed.refused[line["sink"], columns["stage"], columns["reason"]] += 1
        self.removed.audio_s += line["audio_s"]
