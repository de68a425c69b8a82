"""A whole corpus from Python: what `sottovoce sanitize` does."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Sanitized:
    """A committed run: its folder, which may be handed on, and its counts. `before`: it was finished already."""

    folder: str
    counts: dict[str, Any]
    before: bool

    def table(self, sink: str) -> pa.Table:
        """All records of a sink, as they were committed."""
        import io

        import pyarrow as pa
        import pyarrow.parquet as pq

        from sottovoce.models.runs.committed_run import CommittedRun
        from sottovoce.models.runs.run_files import LocalFiles

        run = CommittedRun(self.folder, LocalFiles(self.folder))
        return pa.concat_tables([pq.read_table(io.BytesIO(run.read(path))) for path in run.paths_of(sink)])


def sanitize(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    config: str | os.PathLike[str] | None = None,
    secret_file: str | os.PathLike[str] | None = None,
    runner: Literal["direct", "flink", "dataflow"] = "direct",
    workers: int = 1,
    force: bool = False,
    set: tuple[str, ...] = (),
    **job: Any,
) -> Sanitized:
    """A corpus goes in, safe data sets come out, as with the command of the same name.

    `job` are keys of a job file (`pipelines/sanitize/default_job.yaml` lists them); those of its sections `input` and `output`
    are given as `set=("input.format=jsonl",)`.

    >>> import json, os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> corpus = os.path.join(folder, "corpus.jsonl")
    >>> with open(corpus, "w") as file:
    ...     print(json.dumps({"dialogue_id": "1", "text": "call anna at nine"}), file=file)
    >>> run = sanitize(corpus, os.path.join(folder, "out"), sinks={"stt_lm": 1}, detect="rules")
    >>> run.counts["read"], run.table("stt_lm")["text"].to_pylist()
    (1, ['call anna at [TIME]'])
    """
    from sottovoce.pipelines.local.beam_alone import import_beam_alone, reach_elsewhere

    input, output = os.fspath(input), os.fspath(output)
    config = None if config is None else os.fspath(config)
    secret_file = None if secret_file is None else os.fspath(secret_file)
    import_beam_alone(runner, config, [input, output, str(secret_file), *set, repr(job)])
    reach_elsewhere([input, output, str(secret_file)])

    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.one_secret import secret_for
    from sottovoce.pipelines.sanitize.run import RunRequest, execute_once, prepare

    request = RunRequest(read_job(config, set, job), input, output, secret_for(output, secret_file), runner, workers)
    prepared = prepare(request)
    record, before = execute_once(prepared, force)
    return Sanitized(prepared.folder.uri, record["counts"], before)
