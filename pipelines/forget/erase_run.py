"""Take people out of one run: find their records by the index, and write anew, aside, every table that has some.

Of a retired run only the private state is left.
"""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.models.forget.counts import Removed
from sottovoce.models.forget.whose import Forgotten
from sottovoce.models.runs.places import INDEX, STATE
from sottovoce.models.text.detect.labelled_slots import COUNTED
from sottovoce.pipelines.forget.changed_files import ChangedFiles
from sottovoce.pipelines.forget.erase_shard import ShardErasure
from sottovoce.pipelines.nightly.finished_runs import FinishedRun
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.transforms.nightly.taken import STAGE as SKIP_TAKEN
from sottovoce.transforms.nightly.taken import WITHHELD
from sottovoce.transforms.text.stages import SLOTS
from sottovoce.transforms.write.index import LINES_PER_GROUP, has_any, is_of


class RunErasure:
    """`removed` and `dialogues` (those that lost their last turn) say what was taken out, `files` what is left."""

    def __init__(self, run: FinishedRun, forgotten: Forgotten, ready: str):
        self.run, self._forgotten, self.files = run, forgotten, ChangedFiles(run, ready)
        self.removed, self.dialogues = Removed(), 0

    @property
    def why_not(self) -> str | None:
        """Why it cannot be said whether the run has something of theirs, or why that cannot be taken out."""
        dialogues = [self.files.read(path) for path in self.files.paths(STATE, "dialogues-")]
        if not dialogues and self.run.record["counts"]["dialogues"]:
            return "its private state is lost"
        is_theirs = any(pc.any(is_of(table, self._forgotten)).as_py() for table in dialogues)
        if any(len(table) and not table["speaker"][0].as_py() for table in dialogues):
            asked_for_people = bool(self._forgotten.speakers - self._forgotten.nobody)
            return "it keeps no index (forget: off)" if asked_for_people or is_theirs else None
        is_moved = self.run.retired and self.files.paths(INDEX)
        return "its folder was moved away: put it back, and run this again" if is_moved and is_theirs else None

    def find(self) -> bool:
        """Write anew whatever has something of them. False where there is nothing."""
        self.files.check_tables()
        for path in self.files.paths(STATE, "dialogues-"):
            self._erase_dialogues(path)
        for path in self.files.paths(STATE, "speakers-"):
            table = self.files.read(path)
            tokens = pa.array(sorted(self._forgotten.speakers), pa.string())
            self._erase_rows(path, table, pc.is_in(table["speaker"], value_set=tokens))
        for path in self.files.paths(INDEX, f"{WITHHELD}-"):
            self._erase_withheld(path)
        for path in self.files.paths(INDEX, f"{SLOTS}-"):
            self._erase_slots(path)
        self._erase_shards([path for path in self.files.paths(INDEX) if "-part-" in path])
        return bool(self.files.changed)

    def _erase_dialogues(self, path: str) -> None:
        table = self.files.read(path)
        gone = is_of(table, self._forgotten)
        for row in table.filter(gone).to_pylist():
            self.removed.turns[row["dialogue"]] += row["turns"]
        self.dialogues += _distinct(table) - _distinct(table.filter(pc.invert(gone)))
        self._erase_rows(path, table, gone)

    def _erase_withheld(self, path: str) -> None:
        table = self.files.read(path)
        gone = is_of(table, self._forgotten)
        for row in table.filter(gone).to_pylist():
            self.removed.withheld[SKIP_TAKEN, row["reason"]] += row["turns"]
        self._erase_rows(path, table, gone)

    def _erase_slots(self, path: str) -> None:
        table = self.files.read(path)
        gone = is_of(table, self._forgotten)
        for row in table.filter(gone).to_pylist():
            counts = self.removed.slots.setdefault(row["type"], Counter())
            counts.update({name: row[name] for name in COUNTED})
        self._erase_rows(path, table, gone)

    def _erase_rows(self, path: str, table: pa.Table, gone: pa.ChunkedArray) -> None:
        if pc.any(gone).as_py():
            self.files.write_table(path, table.filter(pc.invert(gone)))

    def _erase_shards(self, indices: list[str]) -> None:
        hits = [path for path in indices if has_any(self.files.uri(path), self._forgotten)]
        if hits:  # what nobody vouched for is not written again
            open_committed(self.run.folder.uri).verify({_shard_of(path).split("/")[0] for path in hits})
        for path in hits:
            shard = _shard_of(path)
            erasure = ShardErasure(shard.split("/")[0], self.files.read(path), self._forgotten)
            self.files.write_shard(shard, erasure.record_type, erasure.keep)
            self.files.write_table(path, erasure.index(), LINES_PER_GROUP)
            self.removed.merge(erasure.removed)


def _shard_of(index_path: str) -> str:
    """index/slu-part-00000-of-00002.parquet -> slu/part-00000-of-00002.parquet"""
    return index_path.removeprefix(f"{INDEX}/").replace("-", "/", 1)


def _distinct(dialogues: pa.Table) -> int:
    return pc.count_distinct(dialogues["dialogue"]).as_py()
