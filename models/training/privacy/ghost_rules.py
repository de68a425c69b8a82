"""What each kind of layer contributes to a unit's gradient, in factors that are never multiplied out per unit.

A rule takes the layer, what it saw (its inputs, then its output) and the gradient of the loss by its output, and yields
(parameter, factor). Rows come first in every tensor; `rows_per_unit` neighbours are one unit.

Norms are upper bounds, because a sum that cancels loses in rounding what clipping needs to know. With A_t = |a_t|,
B_t = |b_t|, L = sum_t A_t B_t and g_n of `rounding`: the Gram trick errs by at most (g_in + g_out + g_4) L^2 where its terms
are added up in double precision, a product over places by g_T L, and adding the clipped gradient to the total by another
g_T L. All of this is added to what was computed; the diagonals know L.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sottovoce.models.errors import SettingsError
from sottovoce.models.training.networks.crf import Transitions
from sottovoce.models.training.networks.lstm import Recurrence, states_before
from sottovoce.models.training.networks.norms import Affine
from sottovoce.models.training.rounding import diagonal_lengths, gamma, lengths, place_lengths, tiny

TOUCH = 16  # multiplications that take as long as it takes to write a number and to read it again
KEEP = 1 << 23  # numbers of a layer's gradients, of all units of a pass, that may be held at once


class Factor(Protocol):
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
        narrow_a = self.a.shape[2] < self.b.shape[2]
        a = (self.a * weights[:, None, None] if narrow_a else self.a).flatten(0, 1)
        b = (self.b if narrow_a else self.b * weights[:, None, None]).flatten(0, 1)
        total.addmm_(a.mT, b) if self.transposed else total.addmm_(b.mT, a)

    def joined(self, other: Outer) -> Outer:
        return Outer(torch.cat([self.a, other.a], 1), torch.cat([self.b, other.b], 1), self.transposed)


@dataclass
class Lookup:
    """gradient row v = sum over places with id v of b; ids [units, places], b [units, places, width]."""

    ids: Tensor
    b: Tensor
    rows: int

    def square_norms(self) -> Tensor:
        places, width = self.ids.shape[1], self.b.shape[2]
        if places * places > self.rows * width:
            units = len(self.ids)
            shifted = self.ids + self.rows * torch.arange(units, device=self.ids.device).unsqueeze(1)
            table = self.b.new_zeros(units * self.rows, width).index_add_(0, shifted.flatten(), self.b.flatten(0, 1))
            error = gamma(places, self.b) * place_lengths(self.b).sum(1)
            return (lengths(table.view(units, -1)) + 2 * error).square()
        same = self.ids.unsqueeze(1) == self.ids.unsqueeze(2)
        gram = torch.bmm(self.b, self.b.mT)
        mass = diagonal_lengths(gram, width).sum(1)
        square = gram.mul_(same).sum((1, 2), dtype=torch.float64)
        square += gamma(width + 4, self.b) * mass.square() + places * places * width * tiny(self.b)
        return (square.clamp_min_(0).sqrt_() + gamma(places, self.b) * mass).square()

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        total.index_add_(0, self.ids.flatten(), (self.b * weights[:, None, None]).flatten(0, 1))

    def joined(self, other: Lookup) -> Lookup:
        return Lookup(torch.cat([self.ids, other.ids], 1), torch.cat([self.b, other.b], 1), self.rows)


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


Rule = Callable[[Any, tuple[Any, ...], Tensor, int], Iterator[tuple[Tensor, Factor]]]


def _linear(layer: nn.Linear, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    b = _places(gradient, r)
    yield layer.weight, Outer(_places(seen[0], r), b)
    if layer.bias is not None:
        yield layer.bias, Direct(b.sum(1))


def _embedding(layer: nn.Embedding, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    b, ids = _places(gradient, r), seen[0].reshape(len(gradient) // r, -1)
    if layer.padding_idx is not None:
        b = b * (ids != layer.padding_idx).unsqueeze(-1)
    yield layer.weight, Lookup(ids, b, layer.num_embeddings)


def _layer_norm(
    layer: nn.LayerNorm, seen: tuple[Any, ...], gradient: Tensor, r: int
) -> Iterator[tuple[Tensor, Factor]]:
    b = _places(gradient, r)
    if layer.elementwise_affine:
        normed = nn.functional.layer_norm(seen[0].detach().float(), layer.normalized_shape, eps=layer.eps)
        yield layer.weight, Direct((_places(normed, r) * b).sum(1))
        if layer.bias is not None:
            yield layer.bias, Direct(b.sum(1))


def _recurrence(layer: Recurrence, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    """Each direction is a product of its own within one parameter."""
    directions = len(layer.weight)
    pairs = zip(states_before(seen[-1], directions), gradient.chunk(directions, -1), strict=True)
    yield layer.weight, BothWays([Outer(_places(before, r), _places(b, r), True) for before, b in pairs])


def _transitions(
    layer: Transitions, seen: tuple[Any, ...], gradient: Tensor, r: int
) -> Iterator[tuple[Tensor, Factor]]:
    yield layer.scores, Direct(gradient.unflatten(0, (-1, r)).sum(1))


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


def _transposed_linear(layer: Any, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    """Hugging Face's `Conv1D`, which is a linear layer whose weight lies the other way round."""
    b = _places(gradient, r)
    yield layer.weight, Outer(_places(seen[0], r), b, transposed=True)
    yield layer.bias, Direct(b.sum(1))


def _convolution(layer: Any, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    """A product over the places of the output, of what the kernel lies on there; groups are products of their own."""
    b = gradient.detach().flatten(2)
    if isinstance(layer, nn.Conv1d) and _is_multiplied_out(layer, b):
        yield layer.weight, Taps(_by_taps(layer, seen[0].detach(), b, r))
    else:
        yield layer.weight, _of_patches(layer, seen[0].detach(), b, r)
    if layer.bias is not None:
        yield layer.bias, Direct(_places(b.mT, r).sum(1))


def _is_multiplied_out(layer: nn.Conv1d, b: Tensor) -> bool:
    """Where units have many places, their own gradients are less work than products of all places with each other."""
    (rows, outputs, places), inputs = b.shape, layer.weight[0].numel()
    less = places * places * (inputs + outputs) >= inputs * outputs * min(places, TOUCH)
    return less and layer.groups == 1 and rows * layer.weight.numel() <= KEEP


def _by_taps(layer: nn.Conv1d, x: Tensor, b: Tensor, r: int) -> Tensor:
    """[taps, units, outputs, inputs]: a product for each place in the kernel, without a copy of what the kernel lies on."""
    x, wide = nn.functional.pad(x, _edges(layer)[0]), b.dtype == torch.float64
    x, b = (x, b) if wide else (x.float(), b.float())
    reach, [step], [apart] = (b.shape[2] - 1) * layer.stride[0] + 1, layer.stride, layer.dilation
    taps = x.new_empty(layer.kernel_size[0], len(b), b.shape[1], x.shape[1])
    for tap, product in enumerate(taps):
        torch.bmm(b, x[:, :, tap * apart : tap * apart + reach : step].mT, out=product)
    return taps.unflatten(1, (-1, r)).sum(2) if r > 1 else taps


def _of_patches(layer: Any, x: Tensor, b: Tensor, r: int) -> Grouped:
    patches = _patches(layer, x)  # [rows, inputs * kernel, places]
    ways = [
        Outer(_places(a.mT, r), _places(part.mT, r))
        for a, part in zip(patches.chunk(layer.groups, 1), b.chunk(layer.groups, 1), strict=True)
    ]
    return Grouped(ways)


def _patches(layer: nn.Conv1d | nn.Conv2d, x: Tensor) -> Tensor:
    sizes: list[tuple[int, ...]] = [layer.kernel_size, layer.dilation, layer.stride]
    x = nn.functional.pad(x, [edge for pair in reversed(_edges(layer)) for edge in pair])
    if x.dim() == 3:
        x, sizes = x.unsqueeze(2), [(1, *size) for size in sizes]
    return nn.functional.unfold(x, sizes[0], sizes[1], 0, sizes[2])


def _edges(layer: nn.Conv1d | nn.Conv2d) -> list[tuple[int, int]]:
    """Zeros before and after, along each axis."""
    if layer.padding_mode != "zeros":
        raise SettingsError([f"mode: per_example: padding_mode {layer.padding_mode} has no rule; allowed: zeros"])
    if isinstance(layer.padding, str):
        reach: Any = zip(layer.kernel_size, layer.dilation, strict=True)
        whole = [d * (k - 1) if layer.padding == "same" else 0 for k, d in reach]
        return [(size // 2, size - size // 2) for size in whole]
    return [(int(size), int(size)) for size in layer.padding]


def _group_norm(
    layer: nn.GroupNorm, seen: tuple[Any, ...], gradient: Tensor, r: int
) -> Iterator[tuple[Tensor, Factor]]:
    if layer.affine:
        b = gradient.detach().flatten(2)
        x = seen[0].detach()
        x = x if x.dtype == torch.float64 else x.float()
        normed = nn.functional.group_norm(x, layer.num_groups, eps=layer.eps).flatten(2)
        yield layer.weight, Direct(_by_unit((normed * b).sum(2), r))
        yield layer.bias, Direct(_by_unit(b.sum(2), r))


def _affine(layer: Affine, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    b = gradient.detach()
    yield layer.weight, Direct(_by_unit((seen[0].detach() * b).sum(2), r))
    yield layer.bias, Direct(_by_unit(b.sum(2), r))


def _by_unit(of_rows: Tensor, rows_per_unit: int) -> Tensor:
    whole = of_rows if of_rows.dtype == torch.float64 else of_rows.float()
    return whole.unflatten(0, (-1, rows_per_unit)).sum(1)


def _rms_norm(layer: Any, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    x = seen[0].detach().float()
    epsilon = getattr(layer, "variance_epsilon", None) or getattr(layer, "eps", None) or torch.finfo(x.dtype).eps
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)
    yield layer.weight, Direct((_places(normed, r) * _places(gradient, r)).sum(1))


@dataclass
class Grouped(BothWays):
    """A convolution's weight: outputs of one group together, whatever the shape of the kernel."""

    def add_weighted(self, weights: Tensor, total: Tensor) -> None:
        super().add_weighted(weights, total.view(len(self.ways), -1, total[0].numel()))

    def joined(self, other: BothWays) -> Grouped:
        return Grouped(super().joined(other).ways)


RULES: dict[type, Rule] = {
    nn.Linear: _linear,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    Recurrence: _recurrence,
    Transitions: _transitions,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.GroupNorm: _group_norm,
    Affine: _affine,
}


# Layers of Hugging Face, known by name: nothing of that library is loaded for models that need none of it.
RULES_BY_NAME: dict[str, Rule] = {"Conv1D": _transposed_linear, "LlamaRMSNorm": _rms_norm, "Qwen2RMSNorm": _rms_norm}


def rule_for(layer: nn.Module) -> Rule | None:
    return RULES.get(type(layer)) or RULES_BY_NAME.get(type(layer).__name__)


def _places(tensor: Tensor, rows_per_unit: int) -> Tensor:
    """[rows, ..., width] -> [units, places, width] in single precision or better."""
    flat = tensor.detach().reshape(len(tensor) // rows_per_unit, -1, tensor.shape[-1])
    return flat if flat.dtype == torch.float64 else flat.float()
