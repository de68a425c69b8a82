"""`sottovoce ledger`: what all nights in an output folder have taken and spent together."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from sottovoce.models.errors import RunError, SettingsError

EXAMPLES = """\
  sottovoce ledger --output out
  sottovoce ledger --output out --speaker-epsilon 8 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, metavar="OUT", help="folder or URI that the nights write to")
    parser.add_argument("--speaker-epsilon", type=float, metavar="E", help="count the speakers who have spent as much")
    parser.add_argument("--json", action="store_true", help="print JSON, as in OUT/cumulative_ledger.json")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.nightly.cumulative_ledger import cumulative_ledger

    budget = args.speaker_epsilon
    if budget is not None and not 0 <= budget < math.inf:
        raise SettingsError([f"--speaker-epsilon: {budget} must be a number from 0"])
    ledger = cumulative_ledger(args.output, budget)
    if not ledger["nights"]:
        raise RunError(f"{args.output}: no committed run; expected the folder that `sottovoce nightly` writes to")
    print(json.dumps(ledger, indent=2) if args.json else "\n".join(_lines(ledger)))
    return 0


def _lines(ledger: dict[str, Any]) -> list[str]:
    uncharged = len(ledger["not_charged"])
    lines = [
        f"nights            {ledger['nights']}, {ledger['retired']} of them retired",
        f"dialogues taken   {ledger['dialogues_taken']}",
        f"speakers charged  {ledger['speakers_charged']}, for {ledger['turns_charged']} turns",
    ]
    if spent := ledger["epsilon_per_speaker"]:
        figures = f"median {spent['median']}, 95th percentile {spent['percentile_95']}, largest {spent['max']}"
        lines.append(f"epsilon           {figures} per speaker")
        delta = ledger["delta_of_lists_at_most"] + ledger["delta_of_trainings_at_most"]
        lines.append(f"delta             {min(delta, 1.0):.3g} at most, of counts and trainings together")
    lines += _bars(ledger)
    if "speaker_epsilon" in ledger:
        budget = ledger["speaker_epsilon"]
        lines.append(f"at the budget     {ledger['speakers_at_the_budget']} speakers have spent {budget} or more")
    if uncharged:
        lines.append(f"not charged       {uncharged} runs by `sanitize`: what they revealed is in no figure above")
    return lines


WIDTH = 40


def _bars(ledger: dict[str, Any]) -> list[str]:
    """One budget: a bar for what each mechanism has cost at most, against the budget or against the largest sum."""
    parts = {name: float(row["max"]) for name, row in ledger["by_mechanism"].items() if row}
    whole = float(ledger.get("speaker_epsilon") or max([*parts.values(), 0.0]))
    if not parts or not 0 < whole < math.inf:
        return []
    bars = {name: "#" * min(WIDTH, round(WIDTH * cost / whole)) for name, cost in parts.items()}
    of = "the budget of a speaker" if "speaker_epsilon" in ledger else "the dearest mechanism"
    return [
        f"  {name:<15} {bar:<{WIDTH}} {parts[name]:.4g} at most ({parts[name] / whole:.0%} of {of})"
        for name, bar in bars.items()
    ]
