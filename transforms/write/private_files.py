"""Files and folders that only their owner may read: 0600 in 0700. Buckets have access rules instead of modes.

The mode is given when a file is made: one that was made readable and changed afterwards could be opened in between.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.runs.places import OutputPlaces

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def make_private_folder(path: str) -> None:
    """With the folders above it that are missing."""
    if "://" in path:
        FileSystems.exists(path) or FileSystems.mkdirs(path)
        return
    if not os.path.isdir(path):
        make_private_folder(os.path.dirname(path))
        try:
            os.mkdir(path, FOLDER_MODE)
        except FileExistsError:  # another worker was first
            if not os.path.isdir(path):
                raise


def create_private(path: str) -> BinaryIO:
    """A new file; one that is there is an error."""
    if "://" in path:
        return FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE), "wb")


def make_private_root(places: OutputPlaces) -> None:
    """The output and its private root. A root that a copy or a backup brought back readable is closed again."""
    root = places.private()
    if "://" in root:
        return  # folders of a bucket are there when something is in them
    os.makedirs(places.uri, exist_ok=True)
    make_private_folder(root)
    if os.stat(root).st_mode & 0o077:
        os.chmod(root, FOLDER_MODE)
