"""How often the language of a short text is guessed wrong: `python tools/measure_language.py FOLDER` with MASSIVE's files in it.

Prints, for utterances of 3 to 8 words of a split, the share of English that is refused and of the others that passes as English.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from sottovoce.models.text.detect.coverage import wilson
from sottovoce.models.text.language import code_of, guess


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--limit", type=int, default=1000)
    args = parser.parse_args()
    for path in sorted(args.folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        own = [r for r in rows if r.get("split") == args.split and 3 <= len(r["tokens"]) <= 8][: args.limit]
        taken = sum(guess(" ".join(row["tokens"]), {"en"}) == "en" for row in own)
        language = code_of(own[0]["lang"])
        wrong = len(own) - taken if language == "en" else taken
        low, high = wilson(wrong, len(own))
        what = "refused" if language == "en" else "taken for English"
        print(f"{language}  {len(own):5} utterances  {what}: {wrong / len(own):.1%} ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
