"""Ask once for the arguments of a method: while a graph is built and run, Beam asks thousands of times for the same ones.

For each step Beam looks several times at every method of its DoFn, inherited ones included, and lets `inspect` take each apart
anew: a fifth of the time of a small run. What a bound method takes depends on its function alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from apache_beam.transforms import core


@contextmanager
def remembered_signatures() -> Iterator[None]:
    real = core.get_function_args_defaults
    core.get_function_args_defaults = _remembering(real)
    try:
        yield
    finally:
        core.get_function_args_defaults = real


def _remembering(ask: Callable[[Any], tuple[list[str], list[Any]]]) -> Callable[[Any], tuple[list[str], list[Any]]]:
    known: dict[FunctionType, tuple[list[str], list[Any]]] = {}

    def answer(function: Any) -> tuple[list[str], list[Any]]:
        if not isinstance(function, MethodType) or not isinstance(function.__func__, FunctionType):
            return ask(function)
        if function.__func__ not in known:
            known[function.__func__] = ask(function)
        names, defaults = known[function.__func__]
        return list(names), list(defaults)

    return answer
