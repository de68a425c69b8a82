"""Why a graph failed, in words that may be shown: the cause and the next command, nothing of a record."""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING

from sottovoce.models.errors import DEBUG, RunError, unwritable
from sottovoce.models.secrets.secret_reference import SecretUnavailable
from sottovoce.transforms.engine import progress

if TYPE_CHECKING:
    from sottovoce.pipelines.sanitize.run import RunRequest

# As our own errors say it, and nothing wider: the rest of the words may quote a record.
NOT_INSTALLED = re.compile(
    r"[\w.-]+ is not installed; pip install (?:'sottovoce\[\w+\]'|--no-deps [\w.=]+|it wherever the run works)"
)


def explain(error: Exception, progress_dir: str | None, request: RunRequest) -> RunError:
    """What went wrong, without the words of the error: they may quote a record."""
    words = str(error)
    if said := unwritable(error):
        return RunError(
            f"a worker could not write or read a file ({said}); nothing was committed. Make room, or give it the "
            f"rights, in {request.output} and {tempfile.gettempdir()}; then run the same command again"
        )
    if missing := NOT_INSTALLED.search(words):
        return RunError(f"{missing[0]}; nothing was committed")
    if SecretUnavailable.__name__ in words:
        return RunError(
            f"a worker could not read the secret ({request.secret.reference}), or found another one there; nothing was "
            "committed. It must be the same, under the same name, on every machine that works for the run"
        )
    if progress_dir is not None and progress.stop_asked(progress_dir):
        counts = progress.read(progress_dir)
        return RunError(
            f"stopped: {counts['failed']} of {counts['read']} records were refused, more than limits.max_failures "
            f"({request.job_file.sections['limits'].max_failures}) allows; nothing was committed. With --set "
            "limits.max_failures=null the run goes to its end and names every reason"
        )
    return RunError(
        f"the pipeline failed ({type(error).__name__}); nothing was committed. "
        f"Set {DEBUG}=1 to see the whole error: it may quote records, so keep it out of shared logs"
    )
