"""What randomised response over sensitive words will cost, before there is a corpus."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import SettingsError
from sottovoce.models.text.replace import randomised_response as rr

EXAMPLES = """\
  sottovoce budget rr --p 0.9 --pi-min 1.30253e-4
  sottovoce budget rr --p 0.9 --pi-min 1.30253e-4 --units 20 --delta 1e-5 --recall 0.95
  sottovoce budget rr --target-epsilon 4 --pi-min 0.001 --json
  sottovoce budget rr --target-epsilon 6.75 --zipf 2000"""

KEYS = {
    "epsilon_unit": "epsilon of one unit",
    "epsilon_pure": "pure epsilon of all units",
    "epsilon": "epsilon of all units at delta, rounded up",
    "delta": "delta",
    "delta_at_epsilon": "delta of all units at --epsilon",
    "p_needed": "p needed for --target-epsilon",
    "epsilon_random_miss": "nominal epsilon of one unit, were misses random",
    "fraction_in_clear": "share of sensitive units expected in the clear",
    "keep_uniform": "share of mass kept with one p",
    "keep_token_dependent": "share of mass kept with p(t)",
    "p_min": "smallest p(t)",
    "p_max": "largest p(t)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--p", type=float, help="probability of replacing a unit; or give --target-epsilon")
    parser.add_argument("--target-epsilon", type=float, help="epsilon wanted for one unit; p follows from it")
    lists = parser.add_mutually_exclusive_group(required=True)
    lists.add_argument("--pi-min", type=float, help="smallest probability in the replacement list")
    lists.add_argument("--zipf", type=int, metavar="N", help="a list of N values that follow Zipf's law")
    lists.add_argument("--distribution", metavar="FILE", help="a list: value TAB weight a line, or one weight a line")
    parser.add_argument("--units", type=int, default=1, help="sensitive units of one utterance, dialogue or person (1)")
    parser.add_argument(
        "--delta", type=float, default=1e-5, help="chance that the epsilon of all units may fail (1e-5)"
    )
    parser.add_argument("--epsilon", type=float, help="print the delta of all units at this epsilon")
    parser.add_argument(
        "--recall", type=float, default=1.0, help="share of sensitive units that the detector finds (1)"
    )
    parser.add_argument(
        "--grid",
        type=float,
        default=1e-3,
        help="losses are rounded up to multiples of this, as numerical accountants do; 0 gives the exact figure (0.001)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with every key")


def run(args: argparse.Namespace) -> int:
    figures = plan(args)
    if args.json:
        print(json.dumps({key: _plain(value) for key, value in figures.items()}))
    else:
        for key, text in KEYS.items():
            if figures[key] is not None:
                print(f"{text:<52} {figures[key]:.10g}")
    return 0


def plan(args: argparse.Namespace) -> dict[str, float | None]:
    """Every key of KEYS; None where the question was not asked."""
    _check(args)
    pi = _distribution(args)
    pi_min = args.pi_min if pi is None else float(pi.min())
    p_needed = None if args.target_epsilon is None else rr.p_for(args.target_epsilon, pi_min)
    p: float = args.p if p_needed is None or args.p is not None else p_needed
    token = rr.token_dependent_p(args.target_epsilon, pi) if pi is not None and p_needed is not None else None
    units = rr.Composition(p, pi_min, args.units, args.grid)
    return {
        "epsilon_unit": rr.epsilon_of(p, pi_min),
        "epsilon_pure": units.epsilon_pure,
        "epsilon": units.epsilon(args.delta),
        "delta": args.delta,
        "delta_at_epsilon": None if args.epsilon is None else units.delta(args.epsilon),
        "p_needed": p_needed,
        "epsilon_random_miss": rr.random_miss_epsilon(p, pi_min, args.recall),
        "fraction_in_clear": 1 - args.recall * p,
        "keep_uniform": None if pi is None else 1 - p,
        "keep_token_dependent": token.kept if token else None,
        "p_min": token.p_min if token else None,
        "p_max": float(token.p.max()) if token else None,
    }


def _check(args: argparse.Namespace) -> None:
    rules: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
        ("p", lambda p: 0 < p <= 1, "above 0 and at most 1"),
        ("target_epsilon", lambda epsilon: 0 < epsilon <= 100, "above 0 and at most 100"),
        ("pi_min", lambda pi_min: 0 < pi_min <= 0.5, "above 0 and at most 0.5"),
        ("zipf", lambda size: 2 <= size <= 1_000_000, "from 2 to 1000000"),
        ("units", lambda units: 1 <= units <= 2000, "from 1 to 2000"),
        ("delta", lambda delta: 0 < delta < 1, "between 0 and 1"),
        ("epsilon", lambda epsilon: epsilon >= 0, "at least 0"),
        ("recall", lambda recall: 0 < recall <= 1, "above 0 and at most 1"),
        ("grid", lambda grid: grid == 0 or 1e-9 <= grid <= 1, "0, or from 1e-9 to 1"),
    )
    problems = [
        f"--{name.replace('_', '-')}: {value} is out of range; allowed: {allowed}"
        for name, holds, allowed in rules
        if (value := getattr(args, name)) is not None and not (math.isfinite(value) and holds(value))
    ]
    if args.p is None and args.target_epsilon is None:
        problems.append("--p: missing; give --p or --target-epsilon")
    if problems:
        raise SettingsError(problems)


def _distribution(args: argparse.Namespace) -> np.ndarray | None:
    if args.zipf:
        return rr.zipf(args.zipf)
    if not args.distribution:
        return None
    try:
        lines = Path(args.distribution).read_text(encoding="utf-8").splitlines()
        weights = np.array([_weight(line) for line in lines if line.strip() and not line.startswith("#")])
    except (OSError, ValueError) as error:
        raise SettingsError([f"--distribution {args.distribution}: cannot be read ({type(error).__name__})"]) from None
    if len(weights) < 2 or not np.all(np.isfinite(weights)) or weights.min() <= 0:
        raise SettingsError([f"--distribution {args.distribution}: expected at least 2 lines with weights above 0"])
    return weights / weights.sum()


def _weight(line: str) -> float:
    """'value TAB weight [TAB class]' or a weight alone."""
    fields = line.split("\t")
    return float(fields[1] if len(fields) > 1 else fields[0])


def _plain(value: float | None) -> float | str | None:
    return "inf" if value is not None and math.isinf(value) else value
