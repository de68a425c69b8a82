"""How often the language of a short text is guessed right: `python tools/measure_language.py FILE ...` (tokens, lang, split).

For utterances of 3 to 8 words of a split: the share that is guessed right where the nine languages are expected, what the others
are taken for, and the share of English that would be refused, or of others that would pass, where a run expects English alone.
Files without a language (MultiDoGO) are taken to be English.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

from sottovoce.models.text.detect.coverage import wilson
from sottovoce.models.text.language import code_of, guess
from sottovoce.models.text.languages import TABLE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--split", default="test", help="default: test; all: every row")
    parser.add_argument(
        "--limit", type=int, default=1000, help="utterances of each file, spread over it (default: 1000)"
    )
    args = parser.parse_args()
    for path in args.files:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        own = [r for r in rows if args.split in ("all", r.get("split")) and 3 <= len(r["tokens"]) <= 8]
        own = own[:: max(1, len(own) // args.limit)][: args.limit]
        if not own:
            print(f"{path.name}: no utterance of 3 to 8 words in split {args.split!r}")
            continue
        language = code_of(own[0].get("lang") or "en")
        texts = [" ".join(row["tokens"]) for row in own]
        guesses = Counter(guess(text, set(TABLE)) for text in texts)
        passing = sum(guess(text, {"en"}) == "en" for text in texts)
        wrong = len(own) - passing if language == "en" else passing
        others = ", ".join(f"{code} {count}" for code, count in guesses.most_common(4) if code != language)
        what = "refused" if language == "en" else "taken for English"
        print(
            f"{path.name.split('.')[0]}: {len(own)} utterances, right {share(guesses[language], len(own))}"
            f"{f' (else {others})' if others else ''}; where English alone is expected, {what} {share(wrong, len(own))}"
        )


def share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits / of:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
