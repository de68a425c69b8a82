"""Follow one record from its line in the corpus to the commit: which files its way leads through, and how often it changes rooms.

    python tools/walk.py            # speech and text, beside what is allowed
    python tools/walk.py --files    # the files in the order in which they are first entered
    python tools/walk.py --all      # with what is done once for the run, after its last record

A file is on the way once one of its functions runs between the parsing of the record's line and the commit. Not on it: what
only runs while a module is imported, the job is checked, the graph is made or a model is loaded; the display, the
observers, the guard and the memo for Beam, which stand beside; and what turns the counts of the whole run into ledger,
report and cards, where no record is (`--all` counts it as well). A room is a folder below models/, transforms/ or
pipelines/ (models/speech, transforms/engine): from one file to the next, in the order in which they are first entered, it
changes or does not.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOPS = ("models", "transforms", "pipelines")
BEGINS = ("transforms/read/read_corpus.py", "_Parse.process")  # before it the graph is made and models are loaded
COUNTS = ("pipelines/sanitize/write_results.py", "write_results")  # from here on there are counts, and no record
ENDS = ("pipelines/sanitize/run_folder.py", "RunFolder.commit")
WATCHES = (
    "pipelines/sanitize/show_progress.py",
    "pipelines/remote/own_workers.py",
    "pipelines/local/remembered_signatures.py",
    "pipelines/observe/observing.py",
)  # beside the way: they look on, and no record goes through them
ALLOWED = {"stt_am": (62, 40), "slu": (45, 30)}  # files, and changes of room


@dataclass
class Walk:
    """The files in the order of their first function call; with `whole` also those of the run's own end."""

    whole: bool = False
    files: list[str] = field(default_factory=list)

    @property
    def changes_of_room(self) -> int:
        return _changes(
            [str(Path(file).parent) if file.count("/") < 2 else "/".join(file.split("/")[:2]) for file in self.files]
        )

    @property
    def changes_of_top_folder(self) -> int:
        return _changes([file.split("/")[0] for file in self.files])


def _changes(names: list[str]) -> int:
    return sum(one != other for one, other in pairwise(names))


def walk(sink: str, whole: bool = False) -> Walk:
    """One recording of the demo corpus on its way to this sink."""
    from sottovoce.pipelines import cli

    found = Walk(whole)
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "manifest.jsonl"
        manifest.write_text(json.dumps(_first_record()) + "\n")
        arguments = ["--input", str(manifest), "--output", f"{folder}/out", "--set", f"sinks={{{sink}: 1}}"]
        arguments += ["--set", f"input.audio_roots=[{ROOT / 'examples' / 'demo'}]"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), _traced(found):
            code = cli.main(["sanitize", *arguments])
    if code:
        raise SystemExit(f"walk: the run ended with {code}")
    return found


def _first_record() -> dict[str, Any]:
    demo = ROOT / "examples" / "demo"
    record = json.loads((demo / "manifest.jsonl").read_text().splitlines()[0])
    return record | {"audio_filepath": str(demo / record["audio_filepath"])}


@contextlib.contextmanager
def _traced(found: Walk) -> Iterator[None]:
    """Every function that is entered, on every thread: the local runner works on threads of this process."""
    places: dict[CodeType, str | None] = {}
    begun = threading.Event()

    def entered(frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code not in places:
            places[code] = _place(code)
        place = places[code]
        if place is None:
            return
        if (place, code.co_qualname) == BEGINS:
            begun.set()
        ends = (place, code.co_qualname) == ENDS
        if (begun.is_set() or ends) and place not in found.files:
            found.files.append(place)
        if ends or ((place, code.co_qualname) == COUNTS and not found.whole):
            begun.clear()

    threading.setprofile(entered)
    sys.setprofile(entered)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def _place(code: CodeType) -> str | None:
    """The file of a function of ours; None for others', and for what runs when a module or a class is made."""
    path = Path(code.co_filename)
    if not code.co_flags & inspect.CO_OPTIMIZED or not path.is_relative_to(ROOT):
        return None
    place = path.relative_to(ROOT).as_posix()
    return place if place.startswith(TOPS) and place not in WATCHES else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="name the files")
    parser.add_argument("--all", action="store_true", help="count what is done once for the run as well")
    args = parser.parse_args()
    too_far = False
    for sink, (most_files, most_changes) in ALLOWED.items():
        way = walk(sink, args.all)
        too_far |= len(way.files) > most_files or way.changes_of_room > most_changes
        print(
            f"{sink:<7} {len(way.files):>3} files (at most {most_files})   {way.changes_of_room:>3} changes of room "
            f"(at most {most_changes})   {way.changes_of_top_folder:>3} of top folder"
        )
        if args.files:
            print(*(f"  {file}" for file in way.files), sep="\n")
    return 1 if too_far else 0


if __name__ == "__main__":
    sys.exit(main())
