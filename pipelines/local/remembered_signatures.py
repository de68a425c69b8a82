"""Ask once for the arguments of a method: while a graph is built and run, Beam asks thousands of times for the same ones.

For each step Beam looks several times at every method of its DoFn, inherited ones included, and lets `inspect` take each apart
anew: a third of the time of a small run. What a bound method takes depends on its function alone, and what state and timers
a DoFn declares is settled once it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from apache_beam.transforms import core, userstate


@contextmanager
def remembered_signatures() -> Iterator[None]:
    """Inside, Beam's two questions are answered from memory; afterwards Beam is as it was, whatever happened."""
    real = core.get_function_args_defaults, userstate.get_dofn_specs
    core.get_function_args_defaults = _arguments(core.get_function_args_defaults)
    userstate.get_dofn_specs = _state_and_timers(userstate.get_dofn_specs)
    try:
        yield
    finally:
        core.get_function_args_defaults, userstate.get_dofn_specs = real


def _arguments(ask: Callable[[Any], tuple[list[str], list[Any]]]) -> Callable[[Any], tuple[list[str], list[Any]]]:
    known: dict[FunctionType, tuple[list[str], list[Any]]] = {}

    def answer(function: Any) -> tuple[list[str], list[Any]]:
        if not isinstance(function, MethodType) or not isinstance(function.__func__, FunctionType):
            return ask(function)
        if function.__func__ not in known:
            known[function.__func__] = ask(function)
        names, defaults = known[function.__func__]
        return list(names), list(defaults)

    return answer


def _state_and_timers(ask: Callable[[Any], tuple[set, set]]) -> Callable[[Any], tuple[set, set]]:
    known: dict[int, tuple[Any, tuple[set, set]]] = {}  # the DoFn is kept: its id is its own as long as it is there

    def answer(dofn: Any) -> tuple[set, set]:
        if id(dofn) not in known:
            known[id(dofn)] = dofn, ask(dofn)
        states, timers = known[id(dofn)][1]
        return set(states), set(timers)

    return answer
