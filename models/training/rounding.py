"""How much rounding can hide, at most: lengths that are never told shorter than they are.

With unit roundoff u, n operations err by at most g_n = n u / (1 - n u) of the sum of absolute values (Higham 2002, ch. 3),
in whatever order they are done; and each product may lose what lies below the smallest normal number.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 1024  # numbers whose squares are added in their own precision; blocks are added in double precision


def gamma(operations: int, of: Tensor) -> float:
    """g_n in the precision of the tensor, with two operations to spare for a weight and a square root."""
    n_u = (operations + 2) * torch.finfo(of.dtype).eps / 2
    return n_u / (1 - n_u)


def tiny(of: Tensor) -> float:
    """The smallest normal number in the precision of the tensor: what one product may lose below it."""
    return torch.finfo(of.dtype).tiny


def lengths(vectors: Tensor) -> Tensor:
    """[units]: squares of single precision neither vanish nor overflow in double precision; long ones go by blocks."""
    units, size = vectors.shape
    if size >= 4 * BLOCK and size % BLOCK == 0 and vectors.dtype == torch.float32:
        blocks = torch.linalg.vector_norm(vectors.reshape(units, -1, BLOCK), dim=2).double().square().sum(1)
        return _upwards(blocks, BLOCK, vectors, of_them=size)
    return torch.linalg.vector_norm(vectors, dim=1, dtype=torch.float64)


def place_lengths(tensor: Tensor) -> Tensor:
    """[units, places] of [units, places, width]."""
    return _upwards(torch.linalg.vector_norm(tensor, dim=2).double().square(), tensor.shape[2], tensor)


def diagonal_lengths(gram: Tensor, width: int) -> Tensor:
    """[units, places] of the vectors of this width that were multiplied with each other."""
    return _upwards(gram.diagonal(dim1=1, dim2=2).double(), width, gram)


def whole_length(tensor: Tensor) -> Tensor:
    """Of all numbers taken together: as fast as memory, where double precision would take five times as long."""
    flat = tensor.flatten()
    whole = len(flat) // BLOCK * BLOCK
    blocks = torch.linalg.vector_norm(flat[:whole].view(-1, BLOCK), dim=1)
    rest = torch.linalg.vector_norm(flat[whole:]).unsqueeze(0)
    squares = torch.cat([blocks, rest]).double().square().sum()
    return _upwards(squares, min(BLOCK, len(flat)), tensor, of_them=len(flat))


def _upwards(squares: Tensor, operations: int, of: Tensor, of_them: int | None = None) -> Tensor:
    return (squares + (of_them or operations) * tiny(of)).sqrt() * (1 + gamma(operations, of))
