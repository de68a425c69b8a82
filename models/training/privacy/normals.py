"""Random words to normals (Box and Muller 1958), one pass in registers.

Logarithm, sine and cosine are the minimax polynomials of Cephes (Moshier) in single precision. torch takes nine passes
over memory for the same and four times as long. No fast-math: a number does not depend on its place in the vector.
"""

from __future__ import annotations

import math

import numba
import numpy as np

_F, _I = np.float32, np.int32
_LN_2, _TO_RADIANS = _F(math.log(2)), _F(math.pi * 2.0**-31)
_SQRT_HALF = _I(0x3F3504F3)  # as the bits of a float: what is above belongs to the next power of two


@numba.njit(error_model="numpy")
def normals_of(words: np.ndarray, normals: np.ndarray) -> int:
    """Words (uint32) of the first half become radii, those of the second half angles; one pair of normals of each two.

    Returns the smallest of the first half, that is the one with the largest radius: the tail needs more bits (`noise`).
    """
    half = words.shape[0] // 2
    smallest = np.uint32(0xFFFFFFFF)
    for i in range(half):
        smallest = min(smallest, words[i])
        uniform = _F(_I(words[i] >> np.uint32(1))) + _F(0.5)  # in (0, 2^31)
        bits = _F(uniform).view(np.int32)
        power = _I(_I(bits - _SQRT_HALF) >> _I(23))
        m = _I(bits - _I(power << _I(23))).view(np.float32) - _F(1)  # mantissa - 1, within sqrt(1/2) - 1 .. sqrt(2) - 1
        p = _F(7.0376836292e-2) * m - _F(1.1514610310e-1)
        p = p * m + _F(1.1676998740e-1)
        p = p * m - _F(1.2420140846e-1)
        p = p * m + _F(1.4249322787e-1)
        p = p * m - _F(1.6668057665e-1)
        p = p * m + _F(2.0000714765e-1)
        p = p * m - _F(2.4999993993e-1)
        p = p * m + _F(3.3333331174e-1)
        logarithm = m + m * m * (m * p - _F(0.5)) + _F(_I(power - _I(31))) * _LN_2
        radius = np.sqrt(max(_F(-2) * logarithm, _F(0)))

        turn = _I(words[half + i])  # the angle in units of pi / 2^31
        quarter = _I(_I(turn + _I(1 << 29)) >> _I(30))
        t = _F(_I(turn - _I(quarter << _I(30)))) * _TO_RADIANS  # within -pi/4 .. pi/4
        t2 = t * t
        sine = t + t * t2 * ((_F(-1.9515295891e-4) * t2 + _F(8.3321608736e-3)) * t2 - _F(1.6666654611e-1))
        cosine = (_F(2.443315711809948e-5) * t2 - _F(1.388731625493765e-3)) * t2 + _F(4.166664568298827e-2)
        cosine = _F(1) - _F(0.5) * t2 + t2 * t2 * cosine
        swapped, upside_down = (quarter & _I(1)) != 0, (quarter & _I(2)) != 0
        east, north = (-sine, cosine) if swapped else (cosine, sine)
        normals[i] = radius * (-east if upside_down else east)
        normals[half + i] = radius * (-north if upside_down else north)
    return int(smallest)
