"""Who is told of a run is told by the real client libraries, over loopback, and learns counts and nothing of the corpus."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from whole_runs import only_run, sottovoce, write_manifest

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import build
from sottovoce.pipelines.observe.observing import Observers, ObserveSettings, RunFacts

PLANTED = ("oswaldina", "quetzalroom", "zirconturn", "petronella", "wilhelmina")


class Receiver:
    """Takes whatever is sent to it."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, bytes]] = []

    def __enter__(self):
        taken = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                taken.append(
                    (self.path, gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
                )
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def corpus(folder):
    records = [
        {"id": f"zirconturn{i}", "dialogue_id": f"quetzalroom{i}", "speaker_id": "oswaldina",
         "text": "write to petronella at nine", "intent": "write"} for i in range(4)
    ]  # fmt: skip
    return write_manifest(folder, [*records, '{"text": "wilhelmina", '])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("observed")
    with Receiver() as receiver:
        watched = (f"observe.metrics={folder}/m.prom", f"observe.lineage={receiver.url}")
        watched += (f"observe.traces={receiver.url}/v1/traces", "sinks={slu: 1}", "detect=rules")
        sottovoce(
            *("sanitize", "--input", corpus(folder / "in"), "--output", folder / "out"),
            *(word for assignment in watched for word in ("--set", assignment)),
        )
    return folder, receiver.bodies, only_run(folder / "out")


@pytest.mark.slow
def test_metrics_are_a_file_that_prometheus_reads(told):
    folder, _, _ = told
    found = {family.name: family for family in text_string_to_metric_families((folder / "m.prom").read_text())}
    assert found["sottovoce_run_success"].samples[0].value == 1
    assert found["sottovoce_run_records_read"].samples[0].value == 5
    assert {s.labels["sink"]: s.value for s in found["sottovoce_run_rows"].samples} == {"slu": 4}
    assert [s.value for s in found["sottovoce_run_records_refused"].samples] == [1]


@pytest.mark.slow
def test_lineage_tells_start_and_complete_with_columns_and_rows(told):
    folder, bodies, run = told
    events = [json.loads(body) for path, body in bodies if path.endswith("lineage")]
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert len({event["run"]["runId"] for event in events}) == 1
    (given,), (made,) = events[1]["inputs"], events[1]["outputs"]
    assert given["name"] == str(folder / "in" / "manifest.jsonl")
    assert given["inputFacets"]["inputStatistics"]["rowCount"] == 5
    assert made["name"] == f"{folder}/out/{run.name}/slu"
    assert {"text", "intent", "slots"} <= {field["name"] for field in made["facets"]["schema"]["fields"]}
    assert made["outputFacets"]["outputStatistics"]["rowCount"] == 4


@pytest.mark.slow
def test_traces_are_one_run_with_its_parts(told):
    (body,) = [body for path, body in told[1] if path == "/v1/traces"]
    asked = ExportTraceServiceRequest.FromString(body)
    (resource,) = asked.resource_spans
    assert [pair.key for pair in resource.resource.attributes] == ["service.name"]
    spans = {span.name: span for scope in resource.scope_spans for span in scope.spans}
    assert set(spans) == {"sanitize", "graph", "results", "commit"}
    assert {spans[name].parent_span_id for name in ("graph", "results", "commit")} == {spans["sanitize"].span_id}
    assert {pair.key: pair.value.int_value for pair in spans["sanitize"].attributes}["sottovoce.rows.slu"] == 4


@pytest.mark.slow
def test_nothing_of_the_corpus_is_told_to_anybody(told):
    folder, bodies, run = told
    everything = b"".join([*(body for _, body in bodies), (folder / "m.prom").read_bytes()])
    assert everything and not [word for word in PLANTED if word.encode() in everything]
    assert "127.0.0.1" not in (run / "config.yaml").read_text() + (run / "report.html").read_text()


@pytest.mark.slow
def test_a_run_that_fails_is_told_by_its_type_and_nobody_who_listens_stops_a_run(tmp_path):
    events = tmp_path / "events.jsonl"
    watched = (f"observe.metrics={tmp_path}/m.prom", f"observe.lineage={events}", "observe.traces=http://127.0.0.1:9/x")
    watched += ("sinks={slu: 1}", "detect=rules", "limits.max_failures=0")
    done = sottovoce(
        *("sanitize", "--input", corpus(tmp_path / "in"), "--output", tmp_path / "out"),
        *(word for assignment in watched for word in ("--set", assignment)),
        check=False,
    )
    assert done.returncode == 1 and "observe.traces could not be told" in done.stderr
    last = [json.loads(line) for line in events.read_text().splitlines()][-1]
    assert last["eventType"] == "FAIL" and last["run"]["facets"]["errorMessage"]["message"] == "RunError"
    assert "sottovoce_run_success 0.0" in (tmp_path / "m.prom").read_text()


@pytest.mark.parametrize("wrong", [{"metrics": "http://x"}, {"lineage": "ftp://x"}, {"traces": "file"}])
def test_an_address_that_is_none_is_refused(wrong):
    with pytest.raises(SettingsError, match=f"observe.{next(iter(wrong))}"):
        build(ObserveSettings, wrong, "observe")


def test_of_a_crowd_release_nobody_is_told_an_exact_count(tmp_path):
    """One person more in the corpus must not be told by a dashboard: rows are noisy, and all else stays with the owner."""
    record = {
        "crowd": True,
        "counts": {"read": 123, "failed": 1, "rows": {"slu": 57}, "stages": {"read": {"received": 123}}},
    }
    settings = ObserveSettings(metrics=str(tmp_path / "m.prom"), lineage=str(tmp_path / "lineage.json"))
    watching = Observers(settings, lambda: RunFacts("run-1", "in", "out", "direct", {"slu": (("text", "string"),)}))
    watching.began()
    watching.ended(record, None, 2.0)
    told = (tmp_path / "m.prom").read_text() + (tmp_path / "lineage.json").read_text()
    assert 'sottovoce_run_rows{sink="slu"} 57.0' in told
    assert "records_read" not in told and "inputStatistics" not in told and '"rowCount": 57' in told
