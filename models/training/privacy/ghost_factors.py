"""A unit's gradient in factors that are multiplied out per unit only where that is less work.

Norms are upper bounds, because a sum that cancels loses in rounding what clipping needs to know. With A_t = |a_t|,
B_t = |b_t|, L = sum_t A_t B_t and g_n of `rounding`: the Gram trick errs by at most (g_in + g_out + g_4) L^2 where its terms
are added up in double precision, a product over places by g_T L, and adding the clipped gradient to the total by another
g_T L. All of this is added to what was computed; the diagonals know L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor

from sottovoce.models.training.rounding import diagonal_lengths, gamma, lengths, place_lengths, tiny

WORTH_PACKING = 0.75  # of the places: where more of them count, copying takes what is saved
SMALL = 1 << 26  # multiplications that take no longer than looking
GLANCE = 8  # outputs that are looked at before all are


def told_places(a: Tensor, b: Tensor) -> Tensor | None:
    """Where the loss depends on any output, [..., places]; None where that is nearly everywhere, or the product is small.

    Elsewhere (the padding of rows, rows that fill up a unit) all terms are exactly zero: without them gradient and norm are
    the same, of fewer products.
    """
    if b.numel() * a.shape[-1] < SMALL:
        return None
    told: Tensor = (b[..., :GLANCE] != 0).any(-1)
    if told.sum() > WORTH_PACKING * told.numel():
        return None
    told[~told] = (b[~told] != 0).any(-1)
    return told if told.sum() <= WORTH_PACKING * told.numel() else None


def packed(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """[units, places, width] each, without the places that count in no unit, as far as the unit with the most of them allows."""
    if (told := told_places(a, b)) is None:
        return a, b
    kept = max(int(told.sum(1).amax()), 1)
    at = torch.argsort(told.to(torch.uint8), dim=1, descending=True, stable=True)[:, :kept].unsqueeze(-1)
    return a.gather(1, at.expand(-1, -1, a.shape[2])), b.gather(1, at.expand(-1, -1, b.shape[2]))


class Factor(Protocol):
    """The gradients of one parameter for all units of a batch, as factors; multiplied out only where that is less work."""

    def square_norms(self) -> Tensor:
        """[units]: an upper bound of the squared norm of what `add_weighted` adds for each unit at weight 1."""

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        """Add the sum over units of weight times gradient to `total`, which has the shape of the parameter."""

    def joined(self, other: Any) -> Factor:
        """The same layer was used twice: one gradient, of both uses."""


@dataclass
class Outer:
    """gradient = sum over places of b a', with a [units, places, inputs] and b [units, places, outputs]."""

    a: Tensor
    b: Tensor
    transposed: bool = False

    def square_norms(self) -> Tensor:
        places, inputs, outputs = self.a.shape[1], self.a.shape[2], self.b.shape[2]
        if places * (inputs + outputs) >= inputs * outputs:
            product = lengths(torch.bmm(self.b.mT, self.a).flatten(1))
            error = gamma(places, self.a) * (place_lengths(self.a) * place_lengths(self.b)).sum(1)
            return (product + 2 * error + places * math.sqrt(inputs * outputs) * tiny(self.a)).square()
        of_a, of_b = torch.bmm(self.a, self.a.mT), torch.bmm(self.b, self.b.mT)
        a, b = diagonal_lengths(of_a, inputs), diagonal_lengths(of_b, outputs)
        mass = (a * b).sum(1)
        square = of_a.mul_(of_b).sum((1, 2), dtype=torch.float64)
        square += gamma(inputs + outputs + 4, self.a) * mass.square()
        square += tiny(self.a) * (inputs * b.sum(1).square() + outputs * a.sum(1).square() + places * places)
        return (square.clamp_min_(0).sqrt_() + gamma(places, self.a) * mass).square()

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        a, b = self.a.flatten(0, 1), self.b.flatten(0, 1)
        weights = weights.repeat_interleave(self.a.shape[1]).unsqueeze(1)
        if (told := told_places(a, b)) is not None:
            at = told.nonzero().squeeze(1)
            a, b, weights = a[at], b[at], weights[at]
        if a.shape[1] < b.shape[1]:
            a = a * weights
        else:
            b = b * weights
        total.addmm_(a.mT, b) if self.transposed else total.addmm_(b.mT, a)

    def joined(self, other: Outer) -> Outer:
        return Outer(torch.cat([self.a, other.a], 1), torch.cat([self.b, other.b], 1), self.transposed)


@dataclass
class Lookup:
    """gradient row v = sum over places with id v of b; ids [units, places], b [units, sources, width].

    As many neighbouring places as there are places to a source share its b. The id `padding` looks up nothing.
    """

    ids: Tensor
    b: Tensor
    rows: int
    padding: int = -1

    @cached_property
    def _summed(self) -> tuple[Any, Any, Any, Tensor]:
        """(unit, id, sum of its b) of each id that a unit has, as it is added, so that sums that cancel need no bound; then
        the squared norms of the units."""
        if self.ids.device.type == "cpu":
            from sottovoce.models.training.privacy.lookups import sum_by_row  # compiles on first use, for a second

            *sums, squares = sum_by_row(self.ids.numpy(), self.b.contiguous().numpy(), self.rows, self.padding)
            return *sums, torch.from_numpy(squares).sum(1)
        return self.sorted_sums()

    def sorted_sums(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The same in operations of torch, for devices that are no CPU."""
        b = self._of_places() * (self.ids != self.padding).unsqueeze(-1)
        whose = torch.arange(len(self.ids), device=self.ids.device).unsqueeze(1)
        pairs, place = torch.unique(self.ids + self.rows * whose, return_inverse=True)
        sums = b.new_zeros(len(pairs), b.shape[2]).index_add_(0, place.flatten(), b.flatten(0, 1))
        units, ids = pairs // self.rows, pairs % self.rows
        squares = place_lengths(sums.unsqueeze(0))[0].square()
        return units, ids, sums, squares.new_zeros(len(self.ids)).index_add_(0, units, squares)

    def square_norms(self) -> Tensor:
        return self._summed[3]

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        units, ids, sums, _ = self._summed
        if total.device.type == "cpu":
            from sottovoce.models.training.privacy.lookups import add_rows

            add_rows(units, ids, sums, weights.numpy(), total.numpy())
        else:
            total.index_add_(0, ids, sums * weights[units].unsqueeze(1))

    def joined(self, other: Lookup) -> Lookup:
        b = torch.cat([self._of_places(), other._of_places()], 1)
        return Lookup(torch.cat([self.ids, other.ids], 1), b, self.rows, self.padding)

    def _of_places(self) -> Tensor:
        return self.b.repeat_interleave(self.ids.shape[1] // self.b.shape[1], 1)


@dataclass
class Direct:
    """The gradient of each unit itself, where it is small: [units, *shape]. It is added as it is: nothing to bound."""

    gradients: Tensor

    def square_norms(self) -> Tensor:
        return lengths(self.gradients.flatten(1)).square()

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        total.add_(torch.tensordot(weights, self.gradients, dims=1))

    def joined(self, other: Direct) -> Direct:
        return Direct(self.gradients + other.gradients)


@dataclass
class Taps:
    """The gradient of each unit itself, by the taps of a kernel: [taps, units, outputs, inputs]. Added as it is."""

    gradients: Tensor

    def square_norms(self) -> Tensor:
        return torch.stack([lengths(tap.flatten(1)).square() for tap in self.gradients]).sum(0)

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        for place, tap in enumerate(self.gradients):
            total[:, :, place].add_(torch.tensordot(weights, tap, dims=1))

    def joined(self, other: Taps) -> Taps:
        return Taps(self.gradients + other.gradients)


@dataclass
class BothWays:
    """A parameter whose first axis is the direction."""

    ways: list[Outer]

    def square_norms(self) -> Tensor:
        return torch.stack([way.square_norms() for way in self.ways]).sum(0)

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        for way, part in zip(self.ways, total, strict=True):
            way.add_weighted(weights, part)

    def joined(self, other: BothWays) -> BothWays:
        return BothWays([mine.joined(theirs) for mine, theirs in zip(self.ways, other.ways, strict=True)])


@dataclass
class Grouped(BothWays):
    """A convolution's weight: outputs of one group together, whatever the shape of the kernel."""

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        super().add_weighted(weights, total.view(len(self.ways), -1, total[0].numel()))

    def joined(self, other: BothWays) -> Grouped:
        return Grouped(super().joined(other).ways)
