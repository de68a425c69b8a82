"""Words and characters as numbers, without a vocabulary taken from the data.

A word list made from private sentences would publish their rare words with the model. So a word is either looked up in
a public list (the words of a vector file) or hashed to a bucket; characters are the bytes of its UTF-8 form.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from sottovoce.models.errors import CorpusError

PADDING, UNKNOWN = 0, 1
WORD_BYTES = 16
VECTORS = "vectors.txt"


@lru_cache(maxsize=200_000)
def bucket_of(word: str, buckets: int) -> int:
    """2 ... buckets-1; 0 is padding and 1 stays free for what a public list does not know."""
    digest = hashlib.blake2b(word.lower().encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return 2 + int.from_bytes(digest, "big") % (buckets - 2)


@lru_cache(maxsize=200_000)
def bytes_of(word: str) -> tuple[int, ...]:
    """The first 16 bytes, each plus one: 0 is padding."""
    encoded = word.encode("utf-8", "surrogatepass")[:WORD_BYTES]
    return tuple(byte + 1 for byte in encoded) + (PADDING,) * (WORD_BYTES - len(encoded))


def keep_vectors(path: str | None, folder: Path) -> dict[str, str]:
    """Public vectors go with the exported weights: what is needed to build the model again."""
    if path is None:
        return {}
    (folder / VECTORS).write_bytes(Path(path).read_bytes())
    return {"vectors": VECTORS}


def read_vectors(path: str | Path) -> tuple[dict[str, int], np.ndarray]:
    """A text file of word vectors (FastText, GloVe): word -> row, and the rows; row 0 pads, row 1 is unknown."""
    index: dict[str, int] = {}
    rows: list[np.ndarray] = []
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                word, *values = line.rstrip().split(" ")
                if number == 1 and len(values) == 1:
                    continue  # FastText's header: how many, how wide
                vector = np.array(values, dtype=np.float32)
                if rows and len(vector) != len(rows[0]):
                    raise CorpusError(
                        f"{path}: line {number}: {len(vector)} numbers; the lines before have {len(rows[0])}"
                    )
                if word not in index:
                    index[word] = len(rows) + 2
                    rows.append(vector)
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror}; expected a text file of word vectors") from None
    except ValueError:
        raise CorpusError(f"{path}: expected lines of a word and its numbers") from None
    if not rows:
        raise CorpusError(f"{path}: holds no word vectors")
    matrix = np.stack(rows)
    return index, np.concatenate([np.zeros((1, matrix.shape[1]), np.float32), matrix.mean(0, keepdims=True), matrix])
