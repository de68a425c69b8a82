"""What each kind of layer contributes to a unit's gradient, in factors (`ghost_factors`).

A rule takes the layer, what it saw (its inputs, then its output) and the gradient of the loss by its output, and yields
(parameter, factor). Rows come first in every tensor; `rows_per_unit` neighbours are one unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from sottovoce.models.errors import SettingsError
from sottovoce.models.training.networks.bag import Bag
from sottovoce.models.training.networks.crf import Transitions
from sottovoce.models.training.networks.lstm import Recurrence, states_before
from sottovoce.models.training.networks.norms import Affine
from sottovoce.models.training.privacy.ghost_factors import (
    BothWays,
    Direct,
    Factor,
    Grouped,
    Lookup,
    Outer,
    Taps,
    packed,
)

TOUCH = 16  # multiplications that take as long as it takes to write a number and to read it again
KEEP = 1 << 23  # numbers of a layer's gradients, of all units of a pass, that may be held at once

Rule = Callable[[Any, tuple[Any, ...], Tensor, int], Iterator[tuple[Tensor, Factor]]]


def _linear(layer: nn.Linear, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    a, b = packed(_places(seen[0], r), _places(gradient, r))
    yield layer.weight, Outer(a, b)
    if layer.bias is not None:
        yield layer.bias, Direct(b.sum(1))


def _embedding(layer: nn.Embedding, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    padding = -1 if layer.padding_idx is None else layer.padding_idx
    ids = seen[0].reshape(len(gradient) // r, -1)
    yield layer.weight, Lookup(ids, _places(gradient, r), layer.num_embeddings, padding)


def _bag(layer: Bag, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    """Each word of a bag has the gradient of the mean, divided by how many they are."""
    words = seen[0]
    shares = gradient / (words > 0).sum(-1, keepdim=True).clamp_min(1)
    yield layer.weight, Lookup(words.reshape(len(gradient) // r, -1), _places(shares, r), layer.num_embeddings, 0)


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
    ways = [packed(_places(before, r), _places(b, r)) for before, b in pairs]
    yield layer.weight, BothWays([Outer(before, b, True) for before, b in ways])


def _transitions(
    layer: Transitions, seen: tuple[Any, ...], gradient: Tensor, r: int
) -> Iterator[tuple[Tensor, Factor]]:
    yield layer.scores, Direct(gradient.unflatten(0, (-1, r)).sum(1))


def _transposed_linear(layer: Any, seen: tuple[Any, ...], gradient: Tensor, r: int) -> Iterator[tuple[Tensor, Factor]]:
    """Hugging Face's `Conv1D`, which is a linear layer whose weight lies the other way round."""
    a, b = packed(_places(seen[0], r), _places(gradient, r))
    yield layer.weight, Outer(a, b, transposed=True)
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


RULES: dict[type, Rule] = {
    nn.Linear: _linear,
    nn.Embedding: _embedding,
    Bag: _bag,
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
    """By the very type of the layer: a subclass may compute something else. None where no rule is known."""
    return RULES.get(type(layer)) or RULES_BY_NAME.get(type(layer).__name__)


def _places(tensor: Tensor, rows_per_unit: int) -> Tensor:
    """[rows, ..., width] -> [units, places, width] in single precision or better."""
    flat = tensor.detach().reshape(len(tensor) // rows_per_unit, -1, tensor.shape[-1])
    return flat if flat.dtype == torch.float64 else flat.float()
