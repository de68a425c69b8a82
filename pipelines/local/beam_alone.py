"""Beam without its connectors to clouds and databases: a run between two places on this machine starts a second sooner.

Beam imports all of them when it is imported, and does without those that are not installed. Here they are hidden while that
happens. Whoever names a place elsewhere gets all of Beam.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sottovoce.models.errors import silent_logs

CONNECTORS = (
    "apitools",
    "apache_beam.io.aws.s3filesystem",
    "apache_beam.io.azure.blobstoragefilesystem",
    "apache_beam.io.gcp.bigquery",
    "apache_beam.io.gcp.gcsfilesystem",
    "apache_beam.io.gcp.pubsub",
    "apache_beam.io.hadoopfilesystem",
    "google.cloud.dataflow",
    "pandas",
    "pymongo",
)
URI = "://"
ELSEWHERE = (URI, "type:")  # a URI; a secret of Beam's secret managers


def import_beam_alone(runner: str, config: str | None, words: Iterable[str]) -> None:
    """`words`: what else was typed. Recordings lie beside the corpus or where the job says, so nobody else can name a place."""
    if "apache_beam" in sys.modules or runner != "direct" or _names_elsewhere([*words, _text(config)]):
        return
    sys.meta_path.insert(0, _NotInstalled())
    try:
        with silent_logs(logging.WARNING):  # Beam says what it misses
            import apache_beam  # noqa: F401
            import pyarrow

            pyarrow.array([0])  # asks, once and for all, whether there is a pandas
    finally:
        del sys.meta_path[0]


def reach_elsewhere(words: Iterable[str], beam_arguments: Sequence[str] = ()) -> None:
    """Filesystems such as S3's refuse without options, and Beam gives them some only when a pipeline is built: too late for
    whoever looks at a corpus or an output before. `beam_arguments` hold addresses, for those that are not in the environment."""
    if any(URI in word for word in words):
        from apache_beam.io.filesystems import FileSystems
        from apache_beam.options.pipeline_options import PipelineOptions

        FileSystems.set_options(PipelineOptions(list(beam_arguments)))


class _NotInstalled:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name in CONNECTORS:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def _names_elsewhere(words: Iterable[str]) -> bool:
    return any(mark in word for word in words for mark in ELSEWHERE)


def _text(config: str | None) -> str:
    try:
        return Path(config).read_text(encoding="utf-8") if config else ""
    except (OSError, UnicodeDecodeError):
        return ""  # told where the job is read
