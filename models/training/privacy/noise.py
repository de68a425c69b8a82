"""Gaussian noise that nobody without the key can predict, and that a repeated step draws again.

Box and Muller: a radius sqrt(-2 ln U) and an angle, two independent normals. On a CPU their bits are the AES-256 counter
stream of a key made for this step and device (HMAC of the training's key); on a GPU its Philox generator with a 63-bit
seed from the same key.

The tail is not cut. A fixed number of bits b for U would end the noise at sqrt(2 (b + 1) ln 2), 6.66 standard deviations
for b = 31; neighbours would then have outputs that only one of them can reach, and delta would have to pay for them. Here
U < 2^-16 takes further bits, 64 at a time, until 16 of them follow the leading zeros. So P(U < 2^-k) = 2^-k for every k,
that is P(radius > sqrt(2 k ln 2)) = 2^-k without end, and the Gaussian's own delta is all there is to charge.
What stays outside the figures: floating-point normals lie on a grid, and an attacker who sees the lowest bits of a noised
gradient (Mironov 2012) could use it; the model shows only their sum over steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from sottovoce.models.randomness import Secret

CHUNK = 1 << 17  # numbers made at a time: small enough to stay in the cache, large enough to pay the calls
WORD_BITS, LONG_BITS = 32, 63  # of U at first, on a CPU and on a GPU
MIN_BITS = 16  # after the leading zeros: below that, U takes more
MORE_BITS = 64


class NoiseSource:
    """`purpose` sets apart draws of one training that are not the noise of its steps."""

    def __init__(self, key: Secret, size: int, device: torch.device, purpose: str = "noise"):
        self._key, self._size, self._device, self._purpose = key, size, device, purpose
        self._desk: Desk | None = None

    def draw(self, step: int, part: int) -> Iterator[tuple[int, Tensor]]:
        """(place, standard normals from there on) for one step and one device; the next piece overwrites the last one."""
        key = self._key.digest(self._purpose, step, part)
        further = _keystream(self._key.digest("further bits", self._purpose, step, part))
        if self._device.type == "cpu":
            self._desk = self._desk or Desk(self._size)  # one for all steps: fresh memory costs as much as its bits
            yield from _stream(self._size, key, further, self._desk)
        else:
            yield 0, _on_device(self._size, key, further, self._device)


def _keystream(key: bytes) -> Callable[[], int]:
    """64 bits at each call. A key is used for one stream only, so the counter may begin at zero."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return lambda: int.from_bytes(stream.update(bytes(MORE_BITS // 8)), "big")


class Desk:
    """Memory that a piece of noise is made in."""

    def __init__(self, size: int):
        self.half = half = min(CHUNK, size + size % 2) // 2
        self.raw, self.zeros = bytearray(8 * half + 15), memoryview(bytes(8 * half))
        self.words, self.normals = np.frombuffer(self.raw, dtype=np.uint32, count=2 * half), torch.empty(2 * half)


def _stream(size: int, key: bytes, further: Callable[[], int], desk: Desk) -> Iterator[tuple[int, Tensor]]:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    from sottovoce.models.training.privacy.normals import normals_of  # compiles on first use: for about two seconds

    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    for begin in range(0, size, 2 * desk.half):
        stream.update_into(desk.zeros, desk.raw)
        if normals_of(desk.words, desk.normals.numpy()) < 1 << MIN_BITS:
            _mend_tail(desk.words, desk.normals.numpy(), further)
        yield begin, desk.normals[: size - begin]


def _mend_tail(words: np.ndarray, normals: np.ndarray, further: Callable[[], int]) -> None:
    half = len(words) // 2
    for place in np.flatnonzero(words[:half] < 1 << MIN_BITS):
        radius = tail_radius(int(words[place]), WORD_BITS, further)
        angle = int(words[half + place].astype(np.int32)) * math.pi * 2.0**-31
        normals[place], normals[half + place] = radius * math.cos(angle), radius * math.sin(angle)


def tail_radius(bits: int, used: int, further: Callable[[], int]) -> float:
    """sqrt(-2 ln U) for a U that begins with these `used` bits and goes on as long as they are few after the zeros."""
    while bits < 1 << MIN_BITS:
        bits, used = bits << MORE_BITS | further(), used + MORE_BITS
    return math.sqrt(2 * (used * math.log(2) - math.log(bits + 0.5)))


def _on_device(size: int, key: bytes, further: Callable[[], int], device: torch.device) -> Tensor:
    """The same in double precision, from 63 bits for U and 63 for the angle."""
    seeded = torch.Generator(device).manual_seed(int.from_bytes(key[:8], "big") >> 1)
    half = (size + 1) // 2
    bits, turns = (torch.empty(half, dtype=torch.int64, device=device).random_(generator=seeded) for _ in range(2))
    radius = ((bits.double() + 0.5) * 2.0**-LONG_BITS).log_().mul_(-2).clamp_min_(0).sqrt_()
    few = (bits < 1 << MIN_BITS).nonzero().flatten().tolist()
    for place in few:
        radius[place] = tail_radius(int(bits[place]), LONG_BITS, further)
    angle = turns.double() * (math.pi * 2.0 ** (1 - LONG_BITS))
    return torch.cat([(radius * angle.cos()).float(), (radius * angle.sin()).float()])[:size]
