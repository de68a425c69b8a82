"""What a machine drew is strong; what a person thought of, or a constant, is not."""

import base64
import random
import uuid

import pytest

from sottovoce.models.secrets.secret_strength import MIN_BITS, estimated_bits

draw = random.Random(20_25).randbytes  # fixed: a law that fails once in a thousand times is none


@pytest.mark.parametrize(
    "make",
    [
        lambda: draw(16),
        lambda: draw(32),
        lambda: draw(16).hex().encode() + b"\n",
        lambda: base64.b64encode(draw(32)),
        lambda: base64.urlsafe_b64encode(draw(24)) + b"\n",
        lambda: str(uuid.UUID(bytes=draw(16), version=4)).encode(),
    ],
    ids=["16 bytes", "32 bytes", "hexadecimal", "base64", "url-safe", "uuid"],
)
def test_random_secrets_are_strong(make):
    weak = sum(estimated_bits(make()) < MIN_BITS for _ in range(2000))
    assert weak <= 4, "of 2,000; the estimate takes a few of base64 for words"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        bytes(64),
        b"a" * 64,
        b"ab" * 32,
        b"deadbeef" * 8,
        bytes(range(64)),
        bytes(range(0, 256, 8)),
        b"0123456789abcdef",
        b"12345678901234567890123456789012",
        b"password" * 10,
        b"correct horse battery staple",
        b"Correct-Horse-Battery-Staple-1",
        b"our secret for the nightly runs, do not tell",
        draw(8),
        draw(12).hex().encode(),
    ],
    ids=repr,
)
def test_what_can_be_guessed_is_weak(value):
    assert estimated_bits(value) < MIN_BITS
