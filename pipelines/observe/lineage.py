"""Events of OpenLineage: what a run reads, what it writes, with columns and rows. To a file or an http address."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    error_message_run,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    schema_dataset,
)
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.transport.http import HttpConfig, HttpTransport

from sottovoce.pipelines.observe.observing import Observer, RunFacts

PRODUCER = "urn:sottovoce"
NAMESPACE = "sottovoce"
RETRY = {"total": 2, "connect": 2, "read": 2, "backoff_factor": 0.2, "allowed_methods": ["POST"]}
TIMEOUT_S = 5.0


class Lineage(Observer):
    """Sends a START event and then COMPLETE or FAIL; names of columns go out, contents do not."""

    def __init__(self, target: str, facts: RunFacts):
        super().__init__(target, facts)
        self._run = str(uuid.uuid4())  # OpenLineage wants a UUID; ours stands in the names of the outputs
        transport = (
            HttpTransport(HttpConfig(url=target, timeout=TIMEOUT_S, retry=RETRY))
            if target.startswith("http")
            else FileTransport(FileConfig(log_file_path=target, append=True))
        )
        self._client = OpenLineageClient(transport=transport)

    def began(self) -> None:
        self._emit(RunState.START)

    def ended(self, record: dict[str, Any] | None, error: BaseException | None, seconds: float) -> None:
        if record is None:
            told = error_message_run.ErrorMessageRunFacet(message=type(error).__name__, programmingLanguage="PYTHON")
            self._emit(RunState.FAIL, {"errorMessage": told})
        else:
            self._emit(RunState.COMPLETE, counts=record["counts"])

    def _emit(
        self, state: RunState, facets: dict[str, Any] | None = None, counts: dict[str, Any] | None = None
    ) -> None:
        self._client.emit(
            RunEvent(
                eventType=state,
                eventTime=datetime.datetime.now(datetime.timezone.utc).isoformat(),
                producer=PRODUCER,
                run=Run(runId=self._run, facets=facets or {}),
                job=Job(namespace=NAMESPACE, name="sanitize"),
                inputs=[self._input(counts)],
                outputs=[self._output(sink, counts) for sink in self.facts.sinks],
            )
        )

    def _input(self, counts: dict[str, Any] | None) -> InputDataset:
        found = input_statistics_input_dataset.InputStatisticsInputDatasetFacet
        facets: Any = {"inputStatistics": found(rowCount=counts["read"])} if counts and "read" in counts else {}
        return InputDataset(namespace=NAMESPACE, name=self.facts.input, inputFacets=facets)

    def _output(self, sink: str, counts: dict[str, Any] | None) -> OutputDataset:
        columns = [
            schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in self.facts.sinks[sink]
        ]
        written = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        return OutputDataset(
            namespace=NAMESPACE,
            name=f"{self.facts.output.rstrip('/')}/{self.facts.run_id}/{sink}",
            facets={"schema": schema_dataset.SchemaDatasetFacet(fields=columns)},
            outputFacets={"outputStatistics": written(rowCount=counts["rows"][sink])} if counts else {},
        )
