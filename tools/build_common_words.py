"""Count the common words of the ladder (`models/text/rewrite/template.py`) in corpora that may be used freely.

    python tools/build_common_words.py nlu_eval.jsonl.gz restaurant8k.jsonl.gz slurp.jsonl.gz massive/en-US.jsonl.gz

Words outside the slots of every split but `test`, said at least five times. Names of places and people that slipped through
their labels are left out by hand. Rows as docs/training.md has them: tokens, tags, split.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

OUT = Path(__file__).parents[1] / "models" / "text" / "rewrite" / "common_words.txt"
AT_LEAST, MOST = 5, 4000
NAMES = (
    "olly modi jones mayfair covent clapham streatham rajdhani southgate surrey quays notting howard stern kensington acton "
    "barnes chelsea musch runnin fuck fucking"
)


def main(paths: list[str]) -> None:
    counts: Counter[str] = Counter()
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row.get("split") != "test":
                    outside = (token for token, tag in zip(row["tokens"], row["tags"], strict=True) if tag == "O")
                    counts.update(word for word in map(str.lower, outside) if re.fullmatch(r"[a-z][a-z']*", word))
    kept = sorted(word for word, count in counts.most_common(MOST) if count >= AT_LEAST and word not in NAMES.split())
    OUT.write_text("\n".join(kept) + "\n", encoding="utf-8")
    print(f"{len(kept)} words -> {OUT}")


if __name__ == "__main__":
    main(sys.argv[1:])
