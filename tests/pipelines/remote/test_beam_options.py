"""Options of the runners: known to Beam, and overruled by the command line."""

from importlib import resources

import pytest
import yaml
from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
    SetupOptions,
    StandardOptions,
)
from whole_runs import ROOT

from sottovoce.pipelines.remote.beam_options import RUNNERS, beam_options, gpu_hints


def written(runner: str) -> dict:
    return yaml.safe_load(resources.files("sottovoce.runner_configs").joinpath(f"{runner}.yaml").read_text())


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_option_of_a_runner_is_known_to_beam(runner):
    assert set(written(runner)) <= set(PipelineOptions().get_all_options())


def test_what_stands_after_the_dashes_wins():
    options = beam_options("dataflow", 1, ("--region=us-east1", "--gpu_min_ram=64GB"))
    assert options.view_as(GoogleCloudOptions).region == "us-east1"
    assert dict(gpu_hints(options))["min_ram"] == "64GB"


def test_local_runs_never_look_for_another_engine_to_download():
    assert beam_options("direct", 1, ()).view_as(StandardOptions).runner == "FnApiRunner"


def test_a_job_server_is_used_only_for_the_version_it_was_built_for():
    other = beam_options("flink", 1, ("--flink_version=1.20",)).view_as(FlinkRunnerOptions)
    assert other.flink_job_server_jar is None
    given = beam_options("flink", 1, ("--flink_job_server_jar=mine.jar",)).view_as(FlinkRunnerOptions)
    assert given.flink_job_server_jar == "mine.jar"


def test_the_checkout_is_staged_on_dataflow_unless_the_image_holds_it():
    assert beam_options("dataflow", 1, ()).view_as(SetupOptions).setup_file == str(ROOT / "setup.py")
    assert beam_options("dataflow", 1, ("--setup_file=",)).view_as(SetupOptions).setup_file is None
    assert beam_options("flink", 1, ()).view_as(SetupOptions).setup_file is None


def test_only_dataflow_is_asked_for_gpus():
    assert [runner for runner in RUNNERS if gpu_hints(beam_options(runner, 1, ()))] == ["dataflow"]
