"""What holds for every launcher of the table, and for the names that jobs get."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.launch import TABLE, TrainingJob, command, command_once, name_of
from sottovoce.models.settings import member_class
from sottovoce.pipelines.training.order import read_launch

KEYS = st.text(min_size=1, max_size=100)


@pytest.mark.parametrize("name", TABLE)
def test_settings_of_a_launcher_do_not_change(name):
    assert member_class("launch", name).__dataclass_params__.frozen


@pytest.mark.parametrize("name", TABLE)
def test_a_launcher_ships_with_a_file_that_names_only_what_it_has(name):
    plan = read_launch(name)
    known = {field.name for field in dataclasses.fields(member_class("launch", name))}
    assert plan.launch.name == name and {key for key, _ in plan.launch.options} <= known


@given(KEYS)
def test_a_name_is_a_dns_label(key):
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name_of(key)) and len(name_of(key)) <= 63


@given(KEYS, KEYS)
def test_different_keys_have_different_names(one, other):
    assert (name_of(one) == name_of(other)) == (one == other)


@given(st.integers(1, 64))
def test_one_process_needs_no_torchrun_and_several_do(processes):
    job = TrainingJob("key", ("script.py", "argument"), "/out")
    words = command(job, processes, "python")
    assert words[0] == "python" and words[-2:] == ["script.py", "argument"]
    assert ("torch.distributed.run" in words) == (processes > 1)
    assert command_once(job, "me", processes, "python")[-len(words) :] == words
