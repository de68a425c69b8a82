"""What every attack of tests/adversary is held to: it has what was handed on, it wins on a weakened build, luck is counted.

    operator = Operator(tmp_path)                                  # corpus, secret and OUT lie here: off limits
    ours = operator.release(dialogues(20))                         # a run in this process, and a copy of what may leave
    with weakened("row ids by a public hash", {"sottovoce.models.randomness:Secret.token": public_token}):
        theirs = operator.release(dialogues(20))
    assert as_outsider(attack, theirs) == ...                      # a law that cannot fail is no law
    assert as_outsider(attack, ours) == ...

An attack is a function of `Released` folders and of public knowledge. While it runs, opening or listing anything of the
operator is an error of the test. Runs in this process see what `weakened` put in; give no `--workers`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from scipy.stats import beta, binom
from whole_runs import rows, sottovoce, write_manifest

FLAKINESS = 1e-6  # how often a statistical law may fail although it holds
PRIVATE = "private"
QUICK = ("--set", "detect={use: gazetteer, entries: {PER: [alice, bob, carol, dave]}}", "--set", "output.shards=2")


@dataclass(frozen=True)
class Released:
    """One OUT as somebody else got it: a copy without `private/`, times of change included."""

    folder: Path

    @property
    def runs(self) -> list[Path]:
        """Committed runs, the oldest first by their own word."""
        return sorted(
            (path.parent for path in self.folder.glob("*/_COMMITTED.json")), key=lambda run: run.stat().st_mtime_ns
        )

    @property
    def run(self) -> Path:
        (run,) = self.runs
        return run

    def rows(self, sink: str) -> list[dict[str, Any]]:
        """Of all runs, in the order in which the files hold them."""
        return [row for run in self.runs for row in rows(run, sink)]

    def files(self) -> dict[str, bytes]:
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}


@dataclass
class Operator:
    """Who runs the pipeline: a folder with the corpus, the secret and OUT. An attack that reaches into it is refused."""

    folder: Path
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    said: list[subprocess.CompletedProcess] = field(default_factory=list)  # every command and what it printed

    def __post_init__(self) -> None:
        self.home = self.folder / "operator"
        self.home.mkdir(parents=True, exist_ok=True)
        self.secret_file.write_bytes(self.secret)
        self.secret_file.chmod(0o600)
        _OFF_LIMITS.add(os.path.realpath(self.home))

    @property
    def secret_file(self) -> Path:
        return self.home / "secret"

    def out(self, name: str) -> Path:
        return self.home / name

    def run(
        self,
        records: list[dict | str | bytes] | Path,
        *flags: object,
        out: str = "out",
        corpus: str = "corpus",
        command: str = "sanitize",
        check: bool = True,
    ) -> subprocess.CompletedProcess:
        """Any command that takes a corpus (records, or a path), with the quick job of these tests."""
        manifest = records if isinstance(records, Path) else write_manifest(self.home / corpus, records)
        paths = ("--input", manifest, "--output", self.out(out), "--secret-file", self.secret_file)
        done = sottovoce(command, *paths, *QUICK, *flags, check=check)
        self.said.append(done)
        return done

    def hand_over(self, out: str = "out") -> Released:
        """A copy of what may leave; the times of files and folders come along, as `cp -p` and rsync keep them."""
        copy = self.folder / "handed on" / secrets.token_hex(4)
        shutil.copytree(self.out(out), copy, ignore=_leave_out_private(self.out(out)))
        return Released(copy)

    def release(self, records: list[dict | str | bytes] | Path, *flags: object, **where: Any) -> Released:
        self.run(records, *flags, **where)
        return self.hand_over(where.get("out", "out"))


def _leave_out_private(out: Path) -> Callable[[str, list[str]], set[str]]:
    return lambda folder, names: {PRIVATE} & set(names) if Path(folder) == out else set()


def dialogues(
    count: int, turns: int = 2, say: Callable[[int, int], str] | None = None, **more: Any
) -> list[dict[str, Any]]:
    """A text-only corpus; `say(dialogue, turn)` gives the words, `more` the same further keys for every record."""
    say = say or (lambda dialogue, turn: f"call {NAMES[dialogue % len(NAMES)]} on line {dialogue} in turn {turn}")
    return [
        {
            "id": f"utterance-{dialogue}-{turn}",
            "dialogue_id": f"dialogue-{dialogue}",
            "speaker_id": f"speaker-{dialogue}",
            "turn": turn,
            "text": say(dialogue, turn),
            **more,
        }
        for dialogue in range(count)
        for turn in range(turns)
    ]


NAMES = ("alice", "bob", "carol", "dave")  # what the detector of the quick job finds


# What an outsider may not do

_OFF_LIMITS: set[str] = set()
_WATCHED = {"open", "os.listdir", "os.scandir", "shutil.copyfile", "shutil.copytree"}
_attacker = threading.local()  # what the operator's threads do meanwhile is their own business


class Cheating(AssertionError):
    """The attack reached for what only the operator has."""


def as_outsider(attack: Callable[..., Any], *has: Any, **knows: Any) -> Any:
    """Run the attack with what it was given, and with nothing of the operator."""
    _watch()
    _attacker.at_work = True
    try:
        return attack(*has, **knows)
    finally:
        _attacker.at_work = False


@functools.cache
def _watch() -> None:
    sys.addaudithook(_refuse_the_operators_files)  # stays for the life of the process, and does nothing between attacks


def _refuse_the_operators_files(event: str, arguments: tuple[Any, ...]) -> None:
    watched = getattr(_attacker, "at_work", False) and event in _WATCHED
    if not watched or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = os.path.realpath(os.fsdecode(arguments[0]))
    if any(path == home or path.startswith(home + os.sep) for home in _OFF_LIMITS):
        raise Cheating(f"{event}: an outsider has no {path}")


# A build with a mend taken away


@contextlib.contextmanager
def weakened(without: str, instead: Mapping[str, Any]) -> Iterator[None]:
    """`without` says what was taken away; `instead` maps "module:name" or "module:Class.name" to what stands there now.

    A name that is gone is an error: the mend has moved, and the attack would be tried on a build that is not weakened.
    """
    with contextlib.ExitStack() as stack:
        for target, replacement in instead.items():
            module, _, name = target.partition(":")
            *owners, attribute = name.split(".")
            owner = functools.reduce(getattr, owners, importlib.import_module(module))
            assert hasattr(owner, attribute), f"{target} is gone; say anew how to build without: {without}"
            stack.enter_context(mock.patch.object(owner, attribute, replacement))
        yield


# Luck


def luck(hits: int, trials: int, by_chance: float) -> float:
    """The probability that guessing, right with probability `by_chance` each time, is right at least `hits` times."""
    return float(binom.sf(hits - 1, trials, by_chance))


def assert_learnt(hits: int, trials: int, by_chance: float) -> None:
    """More than guessing gives, but for FLAKINESS: for the weakened build."""
    assert luck(hits, trials, by_chance) < FLAKINESS, f"{hits} of {trials} could be luck: the attack shows nothing"


def assert_only_guessed(hits: int, trials: int, by_chance: float) -> None:
    """Not more than guessing gives. Fails with probability FLAKINESS where the attack only guesses."""
    found = f"{hits} of {trials}, chance is {by_chance:.3g}"
    assert luck(hits, trials, by_chance) >= FLAKINESS, f"the attack is better than guessing: {found}"


def at_most(hits: int, trials: int, confidence: float = 0.95) -> float:
    """The upper end of the exact (Clopper-Pearson) interval: the attack's true rate lies below, with this confidence."""
    return 1.0 if hits == trials else float(beta.ppf(confidence, hits + 1, trials - hits))
