"""One frontier chart from several studies: the `acoustic.json` that `sottovoce evaluate acoustic` writes, one or more.

    python tools/draw_frontier.py study/acoustic.json other/acoustic.json --out docs/figures/acoustic_frontier.png

A source that two studies measured is drawn as the last one has it. Only the key `frontier` is read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sottovoce.pipelines.studies.frontier_chart import draw


def main() -> None:
    parser = argparse.ArgumentParser(description="acoustic.json ... -> one chart")
    parser.add_argument("studies", nargs="+", type=Path)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    frontier: dict[str, dict[str, Any]] = {}
    for study in args.studies:
        for learner, sources in json.loads(study.read_text("utf-8"))["frontier"].items():
            frontier.setdefault(learner, {}).update(sources)
    draw(frontier, args.out)
    print(f"{args.out}: {len({name for sources in frontier.values() for name in sources})} sources")


if __name__ == "__main__":
    main()
