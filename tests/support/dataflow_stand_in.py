"""The Dataflow job service on loopback: takes jobs from Beam's own client, and can work one off with the local engine.

A job is read with Google's own message type, strictly. `work_off` runs the very graph that was staged: it shows that the
submitted graph is complete and right, not that Dataflow ran it.
"""

from __future__ import annotations

import re
import threading
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult

from loopback import json_handler
from storage_stand_in import StorageStandIn


class DataflowStandIn:
    def __init__(self, storage: StorageStandIn, state: str = "JOB_STATE_RUNNING") -> None:
        self.jobs: list[dict[str, Any]] = []
        self.state = state
        self._storage = storage
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), json_handler(self.answer))
        # Beam's client speaks REST, not gRPC, where the endpoint is called localhost
        self.url = f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> DataflowStandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, url: SplitResult, body: Any, _headers: dict[str, str]) -> tuple[int, Any]:
        if method == "POST" and re.fullmatch(r"/v1b3/projects/p/locations/[^/]+/jobs", url.path):
            return self._create(body)
        if url.path.endswith("/messages"):
            return 200, {"jobMessages": []}
        number = re.search(r"/jobs/job-(\d+)$", url.path)
        if not number or int(number[1]) > len(self.jobs):
            return 404, {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}}
        return 200, {"id": f"job-{number[1]}", "projectId": "p", "currentState": self.state}

    def _create(self, body: Any) -> tuple[int, Any]:
        from google.cloud.dataflow_v1beta3.types import Job
        from google.protobuf import json_format

        try:
            json_format.ParseDict(body, Job.pb(Job()), ignore_unknown_fields=False)
        except json_format.ParseError as error:
            return 400, {"error": {"code": 400, "message": str(error), "status": "INVALID_ARGUMENT"}}
        self.jobs.append(body)
        return 200, {"id": f"job-{len(self.jobs)}", "projectId": "p", "currentState": self.state}

    def staged_graph(self, job: dict[str, Any]) -> Any:
        """The pipeline that the job's options point to."""
        from apache_beam.portability.api import beam_runner_api_pb2

        bucket, _, name = job["environment"]["sdkPipelineOptions"]["options"]["pipelineUrl"][5:].partition("/")
        return beam_runner_api_pb2.Pipeline.FromString(self._storage.objects[bucket, name])

    def work_off(self, job: dict[str, Any]) -> None:
        from apache_beam.options.pipeline_options import PipelineOptions
        from apache_beam.portability import python_urns
        from apache_beam.runners.portability.fn_api_runner import FnApiRunner

        graph = self.staged_graph(job)
        for environment in graph.components.environments.values():
            environment.urn, environment.payload = python_urns.EMBEDDED_PYTHON, b""
            del environment.dependencies[:]
        FnApiRunner().run_via_runner_api(graph, PipelineOptions()).wait_until_finish()
