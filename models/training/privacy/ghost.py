"""Per-example clipping in one forward and one backward pass: book-keeping ghost clipping (Bu et al. 2023).

The weights are held fixed, so the backward pass stops at the outputs of the layers and computes no weight gradient at
all. From each layer's input a and the gradient b of the loss by its output follow, without a gradient per example ever being
stored, the norm of each example's gradient (Gram trick: |sum_t b_t a_t'|^2 = sum_st (a_s.a_t)(b_s.b_t), Li et al. 2022)
and then the sum of the clipped gradients as one product. Norms are rounded up (`ghost_factors`): what a unit adds is never
longer than the clipping norm, however its terms cancel.

A unit may own several rows of the batch (all sentences of a speaker): rows of one unit stand together, and the unit's
gradient is the sum over them. Every layer must treat rows apart. Dropout does, each row by its own mask; a batch
normalisation would not, and has no rule here. A parameter that two layers share is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sottovoce.models.errors import SettingsError
from sottovoce.models.training.batches import AnyBatch
from sottovoce.models.training.networks.crf import Transitions
from sottovoce.models.training.networks.lstm import Recurrence
from sottovoce.models.training.privacy.ghost_factors import Factor
from sottovoce.models.training.privacy.ghost_rules import RULES, RULES_BY_NAME, rule_for

ROUNDING = 2.0**-22  # more than a weight can grow when it becomes a number of single precision


@dataclass
class _Call:
    """One use of one layer: what went in, and the tensor whose gradient says all about its parameters."""

    layer: nn.Module
    seen: tuple[Any, ...]
    output: Tensor


def clip_per_unit(
    network: nn.Module, batch: AnyBatch, clip: float, rows_per_unit: int = 1, scale: dict[str, float] | None = None
) -> tuple[Tensor, Tensor]:
    """Add to each parameter's `.grad` the sum of the clipped gradients of the units; returns row losses and unit norms.

    Norms are upper bounds. `scale` holds alpha by parameter name: the norm that is clipped is that of g_k / alpha_k.
    """
    parameters = {name: p for name, p in network.named_parameters() if p.requires_grad}
    names = {id(p): name for name, p in parameters.items()}
    with _weights_fixed(list(parameters.values())), _recorded(network, set(names)) as calls:
        losses = network(batch)
        gradients = torch.autograd.grad(
            (losses * batch.weights).sum(), [call.output for call in calls], allow_unused=True
        )
    with (
        torch.no_grad(),
        torch.autocast(losses.device.type, enabled=False),
    ):  # what bounds the norm is computed in full precision
        factors = _factors(calls, gradients, names, len(batch), rows_per_unit)
        squares = [factor.square_norms() / (scale[name] ** 2 if scale else 1.0) for name, factor in factors.items()]
        norms = torch.stack(squares).sum(0).sqrt()  # upper bounds, in double precision
        weights = clipping_weights(norms, clip)
        for name, factor in factors.items():
            parameter = parameters[name]
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            factor.add_weighted(weights.to(parameter.dtype), parameter.grad)
    return losses.detach(), norms


def clipping_weights(norms: Tensor, clip: float) -> Tensor:
    """What each unit is multiplied with, so that none is longer than `clip`; of double precision."""
    return (clip / (norms.clamp_min(1e-30) * (1 + ROUNDING))).clamp_max(1.0)


def _factors(
    calls: list[_Call], gradients: tuple[Tensor | None, ...], names: dict[int, str], rows: int, rows_per_unit: int
) -> dict[str, Factor]:
    factors: dict[str, Factor] = {}
    for call, gradient in zip(calls, gradients, strict=True):
        if gradient is None:
            continue
        _check_rows(call, gradient, rows)
        rule = rule_for(call.layer)
        assert rule is not None  # `_check_layers`
        for parameter, factor in rule(call.layer, call.seen, gradient, rows_per_unit):
            name = names.get(id(parameter))
            if name is not None:
                factors[name] = factors[name].joined(factor) if name in factors else factor
    return factors


@contextmanager
def _weights_fixed(parameters: list[nn.Parameter]) -> Iterator[None]:
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)


@contextmanager
def _recorded(network: nn.Module, trained: set[int]) -> Iterator[list[_Call]]:
    """The calls of every layer that owns trained parameters."""
    calls: list[_Call] = []
    owners = [m for m in network.modules() if any(id(p) in trained for p in m._parameters.values() if p is not None)]
    _check_layers(network, owners)

    def record(layer: nn.Module, seen: tuple[Any, ...], output: Any) -> None:
        tensor = seen[0] if isinstance(layer, Recurrence) else output  # its gradients are those of its gates
        if not tensor.requires_grad:
            tensor.requires_grad_()
        calls.append(_Call(layer, (*seen, output), tensor))

    hooks = [layer.register_forward_hook(record) for layer in owners]
    tables = [layer for layer in owners if isinstance(layer, Transitions)]
    for table in tables:
        table.per_row = True
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
        for table in tables:
            table.per_row = False


def _check_layers(network: nn.Module, owners: list[nn.Module]) -> None:
    kinds = sorted({type(layer).__name__ for layer in owners if rule_for(layer) is None})
    if kinds:
        known = ", ".join([*(kind.__name__ for kind in RULES), *RULES_BY_NAME])
        raise SettingsError([f"mode: per_example has no rule for layers {', '.join(kinds)}; known: {known}"])
    held = [id(p) for layer in owners for p in layer._parameters.values() if p is not None]
    if len(held) != len(set(held)):
        raise SettingsError(["mode: per_example cannot tell apart the gradients of a parameter that two layers share"])


def _check_rows(call: _Call, gradient: Tensor, rows: int) -> None:
    if gradient.shape[0] != rows:
        name = type(call.layer).__name__
        raise SettingsError([f"mode: per_example: a {name} layer is computed once for all rows of a batch"])
