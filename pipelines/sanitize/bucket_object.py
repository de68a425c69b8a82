"""Objects of a bucket that are written once: Cloud Storage compares the generation before it writes.

Beam's filesystems have no such operation, so Google's own client does it.
"""

from __future__ import annotations

NEW = 0  # the generation of an object that is not there


def write_object(uri: str, content: str, instead_of: int = NEW) -> bool:
    """False when the object is not of the generation that it was thought to be: somebody else was first."""
    from google.api_core.exceptions import PreconditionFailed
    from google.cloud.storage import Blob, Client

    blob = Blob.from_uri(uri, client=Client())
    try:
        blob.upload_from_string(content, content_type="application/json", if_generation_match=instead_of)
    except PreconditionFailed:
        return False
    return True


def read_object(uri: str) -> tuple[str, int] | None:
    """(content, generation), or None where there is no such object."""
    from google.api_core.exceptions import NotFound
    from google.cloud.storage import Blob, Client

    blob = Blob.from_uri(uri, client=Client())
    try:
        content = blob.download_as_bytes()
    except NotFound:
        return None
    return content.decode("utf-8"), blob.generation
