"""The audit of a run by whoever has just made it: corpus, secret and job are at hand."""

from __future__ import annotations

from typing import Any

from sottovoce.pipelines.audit.audit_run import AuditRequest, audit
from sottovoce.pipelines.sanitize.run import Run
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.training.start_training import read_audit


def audit_commit(run: Run, again: bool = False) -> dict[str, Any]:
    """What was found before of this very commit is not found again, unless it is asked for."""
    request = run.request
    known = {} if again else read_audit(run.folder, open_committed(run.folder.uri).digest, request.secret)
    return known or audit(AuditRequest(run.folder.uri, request.job_file, request.input_uri, request.secret), run.folder)
