"""Gaussian noise that nobody without the key can predict, and that a repeated step draws again.

On a CPU: the AES-256 counter stream of a key made for this step and device (HMAC of the run's secret), turned into
normals by Box and Muller. 31 bits go into the radius, so the tail ends at 6.66 standard deviations. On a GPU: its
Philox generator with a 63-bit seed from the same key. Floating-point normals are not exact: an attacker who sees the
lowest bits of a noised gradient (Mironov 2012) is outside the figures; the model shows only their sum over steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from sottovoce.models.randomness import Secret

CHUNK = 1 << 17  # numbers made at a time: small enough to stay in the cache, large enough to pay the calls


class NoiseSource:
    def __init__(self, secret: Secret, size: int, device: torch.device):
        self._secret, self._size, self._device = secret, size, device

    def draw(self, step: int, part: int) -> Iterator[tuple[int, Tensor]]:
        """(place, standard normals from there on) for one step and one device; the next piece overwrites the last one."""
        key = self._secret.digest("noise", step, part)
        if self._device.type == "cpu":
            yield from _stream(self._size, key)
        else:
            seeded = torch.Generator(self._device).manual_seed(int.from_bytes(key[:8], "big") >> 1)
            yield 0, torch.empty(self._size, device=self._device).normal_(generator=seeded)


def _stream(size: int, key: bytes) -> Iterator[tuple[int, Tensor]]:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    from sottovoce.models.training.normals import normals_of  # compiles on first use: for about two seconds

    # each key is used for one stream only, so the counter may begin at zero
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    half = min(CHUNK, size + size % 2) // 2
    raw, zeros = bytearray(8 * half + 15), memoryview(bytes(8 * half))
    words, normals = np.frombuffer(raw, dtype=np.uint32, count=2 * half), torch.empty(2 * half)
    for begin in range(0, size, 2 * half):
        stream.update_into(zeros, raw)
        normals_of(words, normals.numpy())
        yield begin, normals[: size - begin]
