"""Make the small table of word vectors of `rewrite: metric` from corpora that may be used freely.

    python tools/build_word_vectors.py nlu_eval.jsonl.gz restaurant8k.jsonl.gz slurp.jsonl.gz massive/en-US.jsonl.gz

Words that stand within four of each other, in every split but `test`; positive pointwise mutual information; the first 24
directions of its singular values. Scaled to a mean distance of 1 between two words.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

OUT = Path(__file__).parents[1] / "models" / "text" / "rewrite" / "word_vectors.npz"
AT_LEAST, WINDOW, DIMENSION = 5, 4, 24


def main(paths: list[str]) -> None:
    sentences = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [row for row in map(json.loads, lines) if row.get("split") != "test"]
        sentences += [[w for w in map(str.lower, row["tokens"]) if re.fullmatch(r"[a-z][a-z']*", w)] for row in rows]
    counts = Counter(word for sentence in sentences for word in sentence)
    words = sorted(word for word, count in counts.items() if count >= AT_LEAST)
    number = {word: at for at, word in enumerate(words)}
    together = np.zeros((len(words), len(words)))
    for sentence in sentences:
        own = [number[word] for word in sentence if word in number]
        for at, word in enumerate(own):
            for other in own[at + 1 : at + 1 + WINDOW]:
                together[word, other] += 1
                together[other, word] += 1
    total, margin = together.sum(), together.sum(axis=1) + 1e-9
    with np.errstate(divide="ignore"):
        information = np.maximum(np.log(together * total / margin[:, None] / margin[None]), 0)
    left, sizes, _ = np.linalg.svd(information)
    vectors = left[:, :DIMENSION] * np.sqrt(sizes[:DIMENSION])
    pairs = np.random.default_rng(0).integers(len(words), size=(20_000, 2))
    vectors /= np.linalg.norm(vectors[pairs[:, 0]] - vectors[pairs[:, 1]], axis=1).mean()
    np.savez_compressed(OUT, words=np.array(words), vectors=vectors.astype(np.float16))
    print(f"{len(words)} words, {OUT.stat().st_size} bytes -> {OUT}")


if __name__ == "__main__":
    main(sys.argv[1:])
