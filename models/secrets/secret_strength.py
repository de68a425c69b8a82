"""Whether a secret can be guessed. What a person thought of can; what `head -c 32 /dev/urandom` wrote cannot.

The estimate is what the bytes could hold at most: as many bits as random characters of their alphabet have, fewer where
they look like words, and no more than is left of them when repetitions are taken out.
"""

from __future__ import annotations

import itertools
import re
import string
import zlib

MIN_BITS = 112  # a random UUID has 122
MIN_DISTINCT = 7  # of 16 random bytes fewer are different less than once in 10^12; of 32 hexadecimal digits, in 10^6
BITS_OF_A_LETTER_IN_WORDS = 1.5  # Shannon 1951 found 0.6 to 1.3 in English
WORDS = re.compile(rb"[a-z]{4,}|[A-Z]{4,}")  # of random base64, a tenth of the letters stand in such a row


def estimated_bits(value: bytes) -> float:
    """At most how many bits whoever guesses has to find."""
    content = value.removesuffix(b"\n")
    steps = {(after - before) % 256 for before, after in itertools.pairwise(content)}
    if len(set(content)) < MIN_DISTINCT or len(steps) <= 2:  # a constant, a count, a few bytes in turn
        return 0.0
    left = zlib.compressobj(9, wbits=-15)
    unrepeated = len(left.compress(content) + left.flush(zlib.Z_FINISH))
    return min(8.0 * unrepeated, _bits_of_a_byte(content) * len(content))


def _bits_of_a_byte(content: bytes) -> float:
    letters = set(content)
    if letters - set(string.printable.encode()):
        return 8.0
    if letters - set(b"-") <= set(string.hexdigits.encode()) and letters & set(string.digits.encode()):
        return 4.0
    in_words = sum(len(word) for word in WORDS.findall(content))
    return 5.5 if 3 * in_words < 2 * len(content) and b" " not in content else BITS_OF_A_LETTER_IN_WORDS
