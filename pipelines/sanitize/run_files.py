"""The files of a run folder on this machine or on any filesystem that Beam reads."""

from __future__ import annotations

from typing import BinaryIO

from sottovoce.models.errors import RunError
from sottovoce.models.runs.committed_run import CommittedRun, open_local
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.runs.run_files import LocalFiles, RunFiles


def open_committed(uri: str) -> CommittedRun:
    """The run in a folder or under a URI, held to its seal where the private folder is there; RunError for a bad commit."""
    if "://" not in uri:
        return open_local(uri)
    return CommittedRun(uri, files_of(uri), files_of(RunPlaces.of(uri).output.private()))


def files_of(uri: str) -> RunFiles:
    """Plain files for a path, Beam's for whatever has `://` in it."""
    return BeamFiles(uri) if "://" in uri else LocalFiles(uri)


class BeamFiles:
    """Imports Beam when it is used: what lies on this machine does not wait for it."""

    def __init__(self, uri: str):
        self._uri = uri.rstrip("/")

    def sizes(self) -> dict[str, int]:
        from apache_beam.io.filesystems import FileSystems

        found = FileSystems.match([f"{self._uri}/**"])[0].metadata_list
        # A bucket may hold an empty object for a folder; its name ends with a slash.
        return {item.path[len(self._uri) + 1 :]: item.size_in_bytes for item in found if not item.path.endswith("/")}

    def open(self, path: str) -> BinaryIO:
        from apache_beam.io.filesystem import CompressionTypes
        from apache_beam.io.filesystems import FileSystems

        uri = f"{self._uri}/{path}"
        try:
            if not FileSystems.exists(uri):  # each filesystem would say so in its own way
                raise FileNotFoundError(path)
            return FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED)
        except ValueError:  # Beam's way to say that it knows no such scheme
            scheme = self._uri.partition("://")[0]
            raise RunError(
                f"{self._uri}: nothing here reads {scheme}://; gs:// needs pip install 'sottovoce[gcp]'"
            ) from None
