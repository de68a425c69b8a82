"""What Vertex AI and Cloud Logging answer to the few requests that a launcher makes, on loopback.

A job is read with Google's own message type, strictly: an unknown or misspelt field is refused as Vertex would.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs

from loopback import json_handler

LABEL_VALUE = re.compile(r"[a-z0-9_-]{0,63}")


class VertexStandIn:
    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.log_entries: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, Any, dict[str, str]]] = []
        self.before_list: Callable[[], None] = lambda: None
        self.hide_from_list = False
        self.refusal: str | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), json_handler(self.answer))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> VertexStandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, url: SplitResult, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        self.requests.append((method, url.path, body, headers))
        if self.refusal:
            return 403, {"error": {"code": 403, "message": self.refusal, "status": "PERMISSION_DENIED"}}
        parent = re.fullmatch(r"/v1/(projects/[^/]+/locations/[^/]+)/customJobs", url.path)
        if parent and method == "POST":
            return self._create(parent[1], body)
        if parent:
            self.before_list()
            return 200, {"customJobs": self._listed(parse_qs(url.query).get("filter", [""])[0])}
        if url.path == "/v2/entries:list":
            return 200, {"entries": list(reversed(self.log_entries))[: body["pageSize"]]}
        name, _, verb = url.path.removeprefix("/v1/").partition(":")
        if name not in self.jobs:
            return 404, {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}}
        if verb == "cancel":
            self.jobs[name]["state"] = "JOB_STATE_CANCELLED"
            return 200, {}
        return 200, self.jobs[name]

    def _create(self, parent: str, body: Any) -> tuple[int, Any]:
        from google.cloud.aiplatform_v1.types import CustomJob
        from google.protobuf import json_format

        try:
            job = json_format.ParseDict(body, CustomJob.pb(CustomJob()), ignore_unknown_fields=False)
        except json_format.ParseError as error:
            return 400, {"error": {"code": 400, "message": str(error), "status": "INVALID_ARGUMENT"}}
        if not job.display_name or any(not LABEL_VALUE.fullmatch(value) for value in job.labels.values()):
            return 400, {"error": {"code": 400, "message": "bad name or label", "status": "INVALID_ARGUMENT"}}
        with self._lock:
            name = f"{parent}/customJobs/{len(self.jobs) + 1}"
            created = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            self.jobs[name] = body | {"name": name, "createTime": created, "state": "JOB_STATE_PENDING"}
        return 200, self.jobs[name]

    def _listed(self, wanted: str) -> list[dict[str, Any]]:
        label = re.fullmatch(r"labels\.([a-z_]+)=([a-z0-9_-]+)", wanted)
        assert label, f"not a filter that Vertex documents: {wanted}"
        return [
            job for job in self.jobs.values() if job["labels"].get(label[1]) == label[2] and not self.hide_from_list
        ]
