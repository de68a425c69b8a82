"""A small run starts quickly because Beam is asked for less, never because it is told something else."""

from __future__ import annotations

import subprocess
import sys

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import StandardOptions, TypeOptions
from apache_beam.transforms import core

from sottovoce.pipelines.local.remembered_signatures import remembered_signatures
from sottovoce.pipelines.remote.beam_options import beam_options
from sottovoce.transforms.engine.stage import _Shell

CODE = """
import sys
from sottovoce.pipelines.local.beam_alone import CONNECTORS, import_beam_alone
import_beam_alone("direct", None, ["--output", "gs://bucket/out"])
import_beam_alone("flink", None, [])
assert "apache_beam" not in sys.modules  # left to be imported with everything
import_beam_alone("direct", None, ["--output", "out"])
assert "apache_beam" in sys.modules
assert not [name for name in CONNECTORS if name in sys.modules]
import pandas, apache_beam.io.gcp.gcsfilesystem
from apache_beam.io.filesystems import FileSystems
assert FileSystems.get_filesystem("gs://bucket/out")
"""


@pytest.mark.slow
def test_a_run_on_this_machine_loads_no_connector_and_whoever_names_a_bucket_gets_all():
    subprocess.run([sys.executable, "-c", CODE], check=True)


class _Taking(beam.DoFn):
    def process(self, element, side, window=beam.DoFn.WindowParam, **named):
        yield element


@pytest.mark.parametrize("step", [_Taking(), _Shell(_Taking()), beam.Map(len).fn, beam.Map(lambda x, y=1: x).fn])
def test_remembered_signatures_are_those_that_beam_finds(step):
    def asked():
        methods = [name for name in dir(step) if callable(getattr(step, name, None)) and not name.startswith("__")]
        return {name: core.get_function_arguments(step, name) for name in methods}

    plain = asked()
    with remembered_signatures():
        assert asked() == plain
        asked()["process"][0].clear()  # whoever changes an answer changes nobody else's
        assert asked() == plain
    assert core.get_function_args_defaults.__module__ == core.__name__


def test_a_view_of_the_options_shows_what_was_set_in_another():
    options = beam_options("direct", 1, ())
    options.view_as(StandardOptions).runner = "FlinkRunner"
    assert options.view_as(StandardOptions).runner == "FlinkRunner"
    assert options.view_as(TypeOptions).view_as(StandardOptions).runner == "FlinkRunner"
    assert beam_options("direct", 1, ()).view_as(StandardOptions).runner != "FlinkRunner"
