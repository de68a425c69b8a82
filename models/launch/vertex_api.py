"""How Vertex AI and Cloud Logging are reached: Google over HTTPS, or a stand-in on this machine over plain HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.models.errors import RunError, SettingsError

MISSING = "google-cloud-aiplatform is missing: pip install 'sottovoce[gcp]'"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def job_client(region: str, endpoint: str | None) -> Any:
    """Talks to Vertex in the region, or to `endpoint` in its place. RunError where Google's package is missing."""
    try:
        from google.cloud.aiplatform_v1.services.job_service import JobServiceClient
        from google.cloud.aiplatform_v1.services.job_service.transports.rest import JobServiceRestTransport
    except ImportError:
        raise RunError(MISSING) from None
    url = endpoint or f"https://{region}-aiplatform.googleapis.com"
    scheme, _, host = url.partition("://")
    return JobServiceClient(
        transport=JobServiceRestTransport(host=host, url_scheme=scheme, credentials=_credentials(url))
    )


def check_accelerator(name: str) -> None:
    """Google's client knows the names, and would answer an unknown one with a KeyError."""
    from google.cloud.aiplatform_v1.types import AcceleratorType

    known = list(AcceleratorType.__members__)
    if name not in known:
        raise SettingsError([f"launch.vertex.accelerator: {name!r} is not known; allowed: {', '.join(known[1:])}"])


def read_log(project: str, job_number: str, lines: int, endpoint: str | None) -> str:
    """The last lines that the job's container printed, oldest first."""
    from google.auth.transport.requests import AuthorizedSession

    url = endpoint or "https://logging.googleapis.com"
    body: Any = {
        "resourceNames": [f"projects/{project}"],
        "filter": f'resource.type="ml_job" AND resource.labels.job_id="{job_number}"',
        "orderBy": "timestamp desc",
        "pageSize": lines,
    }
    answer = AuthorizedSession(_credentials(url)).post(f"{url}/v2/entries:list", json=body, timeout=60)
    if answer.status_code != 200:
        raise RunError(f"Cloud Logging: {answer.status_code} {answer.reason}")
    return "".join(f"{_text(entry)}\n" for entry in reversed(answer.json().get("entries", [])))


def _text(entry: dict[str, Any]) -> str:
    return str(entry.get("textPayload") or entry.get("jsonPayload", {}).get("message", ""))


def _credentials(url: str) -> Any:
    """The operator's own for Google; none for a stand-in, which must never see them."""
    import google.auth
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import DefaultCredentialsError

    if url.startswith("http://"):
        return AnonymousCredentials()
    try:
        return google.auth.default(scopes=SCOPES)[0]
    except DefaultCredentialsError:
        raise RunError("vertex: not signed in to Google Cloud: gcloud auth application-default login") from None


@contextmanager
def asking() -> Iterator[None]:
    """Around calls to Google: an error of theirs, or no answer, becomes a RunError of one line."""
    try:
        from google.api_core.exceptions import GoogleAPICallError, RetryError
        from requests.exceptions import RequestException
    except ImportError:
        raise RunError(MISSING) from None
    try:
        yield
    except GoogleAPICallError as error:
        raise RunError(f"vertex: {error.code}: {error.message}") from None
    except (RetryError, RequestException) as error:
        raise RunError(f"vertex: no answer ({type(error).__name__})") from None
