"""Attacker: starts commands on one output at the same moment, so that none sees what the others take, and then looks for
dialogues that are in two runs.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections import Counter

import pytest
from adversary import QUICK, Operator, Released, as_outsider, dialogues
from whole_runs import texts_of, write_manifest

from sottovoce.pipelines.sanitize.one_writer import one_writer

pytestmark = pytest.mark.slow
WRITERS = 6
CHECK_THEN_WRITE = """
import contextlib
@contextlib.contextmanager
def _flock(places, lock, finishing):  # as it was: look whether there is a lock, then write one
    if os.path.exists(places.lock):
        raise one_writer.Busy("locked")
    time.sleep(0.5)
    open(places.lock, "w").close()
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(places.lock)
one_writer._flock = _flock
"""
WRITER = """
import os, sys, time
from sottovoce.pipelines.sanitize import one_writer
{weakening}
out, gate, writers = sys.argv[1:]
def write():
    while not os.path.exists(gate):
        time.sleep(0.001)
    try:
        with one_writer.one_writer(out, "test"):
            came = time.monotonic()
            time.sleep(0.5)
            line = "in %f %f" % (came, time.monotonic())
    except one_writer.Busy:
        line = "busy"
    os.write(1, (line + "\\n").encode())  # in one piece: all write to one pipe
for _ in range(int(writers)):  # imported once: nothing of the lock is touched before each is a process of its own
    if os.fork() == 0:
        write()
        os._exit(0)
open(gate, "w").close()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def attack(released: Released) -> int:
    """How many lines are in more than one run, told by their numbers."""
    runs: Counter[str] = Counter()
    for run in released.runs:
        runs.update({text.partition(" on line ")[2] for text in texts_of(run)})
    return sum(count > 1 for count in runs.values())


def at_once(tmp_path, weakening: str = "") -> list[tuple[float, float]]:
    """When each writer that got in was there; all of them were let go by one gate, as real processes."""
    code = WRITER.format(weakening=textwrap.dedent(weakening))
    command = [sys.executable, "-c", code, str(tmp_path / "out"), str(tmp_path / "gate"), str(WRITERS)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    said = [line.split() for line in told.splitlines()]
    assert len(said) == WRITERS and all(words[0] in ("in", "busy") for words in said)
    return [(float(words[1]), float(words[2])) for words in said if words[0] == "in"]


def overlapping(times: list[tuple[float, float]]) -> int:
    return sum(one[0] < other[1] and other[0] < one[1] for one in times for other in times if one is not other)


def test_a_lock_that_is_looked_for_and_then_written_lets_several_in(tmp_path):
    assert overlapping(at_once(tmp_path, CHECK_THEN_WRITE))


def test_our_lock_lets_one_in_at_a_time(tmp_path):
    times = at_once(tmp_path)
    assert times and not overlapping(times)


def test_a_lock_goes_with_the_process_that_held_it(tmp_path):
    lines = ("import os, sys", "from sottovoce.pipelines.sanitize.one_writer import one_writer")
    code = "\n".join((*lines, "with one_writer(sys.argv[1], 'dies'): os._exit(9)"))
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    with one_writer(str(tmp_path), "next"):
        pass


def test_of_jobs_that_begin_together_on_one_output_no_dialogue_is_in_two_runs(tmp_path):
    operator = Operator(tmp_path)
    operator.run(dialogues(1), out="warm")  # writes the corpus, and shows that the job is good
    manifest = write_manifest(operator.home / "corpus", dialogues(8))
    flags = ["--input", manifest, "--output", operator.out("out"), "--secret-file", operator.secret_file, *QUICK]
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", "sanitize", *map(str, flags)]
    jobs = [
        subprocess.Popen([*command, "--set", f"sinks={{{sink}: 1}}"], stderr=subprocess.PIPE)
        for sink in ("slu", "stt_lm", "dm")
    ]
    told = [job.communicate()[1].decode() for job in jobs]
    assert [job.returncode for job in jobs].count(0) == 1, told
    assert all(
        "is being written" in words or "were taken by earlier runs" in words for words in told if "error" in words
    )
    assert as_outsider(attack, operator.hand_over()) == 0
