"""Numbers of the command line that must be above zero: "none" is asked for by leaving the flag out."""

from __future__ import annotations

import argparse


def at_least_one(text: str) -> int:
    """For `type=` of an argument."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
