"""A small run starts quickly because Beam is asked for less, never because it is told something else."""

from __future__ import annotations

import subprocess
import sys

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import StandardOptions, TypeOptions
from apache_beam.transforms import core, userstate

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


WORKER = """
import sys
from sottovoce.pipelines.local import quick_worker
assert quick_worker.worker_command("beam's").endswith(" -m sottovoce.pipelines.local.quick_worker")
import apache_beam.io.gcp.gcsfilesystem
assert quick_worker.worker_command("beam's") == "beam's"
"""


@pytest.mark.slow
def test_workers_load_what_their_driver_loaded():
    subprocess.run([sys.executable, "-c", WORKER], check=True)


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
        arguments = {name: core.get_function_arguments(step, name) for name in methods}
        return arguments, userstate.get_dofn_specs(step)

    plain = asked()
    with remembered_signatures():
        assert asked() == plain
        asked()[0]["process"][0].clear()  # whoever changes an answer changes nobody else's
        assert asked() == plain
        asked()[1][1].add("a timer")
        assert asked() == plain
    assert core.get_function_args_defaults.__module__ == core.__name__
    assert userstate.get_dofn_specs.__module__ == userstate.__name__


class _Counting(beam.DoFn):
    SEEN = userstate.CombiningValueStateSpec("seen", sum)
    LATER = userstate.TimerSpec("later", beam.TimeDomain.WATERMARK)

    def process(self, element, seen=beam.DoFn.StateParam(SEEN), later=beam.DoFn.TimerParam(LATER)):
        yield element

    @userstate.on_timer(LATER)
    def end(self):
        yield "end"


def test_state_and_timers_are_known_of_each_dofn_by_itself():
    with remembered_signatures():
        for step, own in ((_Counting(), True), (_Taking(), False)) * 2:
            assert userstate.is_stateful_dofn(step) is own
            userstate.validate_stateful_dofn(step)


def test_a_view_of_the_options_shows_what_was_set_in_another():
    options = beam_options("direct", 1, ())
    options.view_as(StandardOptions).runner = "FlinkRunner"
    assert options.view_as(StandardOptions).runner == "FlinkRunner"
    assert options.view_as(TypeOptions).view_as(StandardOptions).runner == "FlinkRunner"
    assert beam_options("direct", 1, ()).view_as(StandardOptions).runner != "FlinkRunner"
