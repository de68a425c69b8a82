"""The one tree of errors. A message names the thing, the value and what is allowed; never the content of a record.

SottovoceError
├── SettingsError      a job, flag or option is wrong; holds every problem found, not only the first
├── CorpusError        the corpus as a whole cannot be read
├── RunError           a run cannot go on, or cannot be used
└── Refusal            one record cannot be handled safely; subclasses carry a fixed reason code
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import traceback
from collections.abc import Iterable, Iterator

DEBUG = "SOTTOVOCE_DEBUG"  # set by who looks for a fault: errors then tell all they know, and logs are not to be shared


class SottovoceError(Exception):
    """Everything the command line reports as one line instead of a traceback."""


class SettingsError(SottovoceError):
    """Settings that cannot be taken. `problems`: all of them at once, each with what is allowed."""

    def __init__(self, problems: Iterable[str]):
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class CorpusError(SottovoceError):
    """The input path, its format or its layout is wrong."""


class RunError(SottovoceError):
    """A run is locked, stopped, not committed, or its output is damaged."""


class PackageMissing(RunError):
    """A package that the job needs is not there: a fault of the machine, and of no record."""

    def __init__(self, name: str | None):
        super().__init__(f"{name or 'a package'} is not installed; pip install it wherever the run works")

    def __reduce__(self) -> tuple[type[RunError], tuple[object, ...]]:
        return RunError, self.args  # an error of a worker travels by pickle


class Refusal(SottovoceError):
    """A record is turned away. Takes no message on purpose: free text is where record content would leak.

    A subclass sets `code` (snake_case, stable) and `allowed` (what would have been accepted). `claimed` are the speaker
    and the dialogue that the record names, as far as it could be read: only their keyed hashes are ever kept.
    """

    code = "refused"
    allowed = ""
    claimed: tuple[str | None, str | None] = (None, None)

    def __init__(self) -> None:
        super().__init__(self.code)


def reason_of(error: BaseException) -> tuple[str, str]:
    """(code, allowed) that may be written down. Foreign errors keep only their type: their messages quote content."""
    if isinstance(error, Refusal):
        return error.code, error.allowed
    return f"unexpected_{type(error).__name__}", "report this: the stage raised an error it should have foreseen"


def told_by_place(error: BaseException) -> str:
    """A foreign error by its type and its place in the code: its words may quote a record."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    number = getattr(error, "errno", None)
    of_the_system = f" ({os.strerror(number)})" if isinstance(number, int) else ""
    return f"{type(error).__name__}{of_the_system} in {os.path.basename(frame.filename)}, line {frame.lineno}"


@contextlib.contextmanager
def silent_logs(up_to: int = logging.CRITICAL) -> Iterator[None]:
    """What libraries log quotes what they were working on, with stacks, and under no name of their own."""
    before = logging.root.manager.disable
    logging.disable(up_to)
    try:
        yield
    finally:
        logging.disable(before)


# What the system says when nothing can be written: the next command is then not a question of the records.
UNWRITABLE = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)))


def unwritable(error: BaseException) -> str | None:
    """What the system said, where a full disk, a read-only one or missing rights are the cause, however deep."""
    words = str(error)
    return next((said for said in UNWRITABLE if said in words), None)
