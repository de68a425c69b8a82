"""A bidirectional LSTM whose input projection is taken out of the time loop, with its own backward pass.

All inputs are projected at once by a linear layer; the loop adds the recurrent part, both directions in one product. The
slope of the loss by the projected input is then the slope by the gates, delta_t, which is all that per-example clipping
needs: dW_input = sum_t delta_t x_t', dW_recurrent = sum_t delta_t h_{t-1}'. The backward pass is written out, so that
dW_recurrent is one product over all times instead of one per time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class Recurrence(nn.Module):
    """The time loop: gates [rows, words, 2 x 4 hidden] -> states [rows, words, 2 x hidden], zero in the padding."""

    def __init__(self, hidden: int):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        self.hidden = hidden
        self.weight = nn.Parameter(torch.empty(2, hidden, 4 * hidden).uniform_(-bound, bound))

    def forward(self, gates: Tensor, lengths: Tensor) -> Tensor:
        # the recursion stays in the precision of the weights, also under autocast
        with torch.autocast(gates.device.type, enabled=False):
            return _TimeLoop.apply(gates.to(self.weight.dtype), self.weight, lengths)[0]


class BiLstm(nn.Module):
    """One layer. A row's second direction runs backwards over its own words, so padding touches neither direction."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.project = nn.Linear(inputs, 8 * hidden)
        self.recur = Recurrence(hidden)
        with torch.no_grad():  # begin by remembering (Jozefowicz et al. 2015)
            self.project.bias.view(2, 4, hidden)[:, 1] = 1.0

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.recur(self.project(words), lengths)


def states_before(states: Tensor) -> tuple[Tensor, Tensor]:
    """h_{t-1} of each word in each direction; padding is zero, so a row's last word has nothing behind it."""
    there, back = states.chunk(2, -1)
    return nn.functional.pad(there[:, :-1], (0, 0, 1, 0)), nn.functional.pad(back[:, 1:], (0, 0, 0, 1))


class _TimeLoop(torch.autograd.Function):
    """Gates in the order write, keep, show, proposal. Each direction works on its half of tensors [rows, words, ...]."""

    @staticmethod
    def forward(gates: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        hidden, (rows, words, _) = weight.shape[1], gates.shape
        opened = gates.clone(memory_format=torch.contiguous_format)
        states, cells, shown = (opened.new_empty(rows, words, 2 * hidden) for _ in range(3))
        inside = (torch.arange(words, device=gates.device) < lengths.unsqueeze(-1)).to(gates.dtype)
        for way, place, earlier in _places_in_time(words):
            gate, (state, cell, tanh) = (
                _half(opened, way, place),
                (_half(x, way, place) for x in (states, cells, shown)),
            )
            if earlier is not None:
                gate.addmm_(_half(states, way, earlier), weight[way])
            gate[:, : 3 * hidden].sigmoid_()
            gate[:, 3 * hidden :].tanh_()
            write, keep, show, proposal = gate.chunk(4, -1)
            torch.mul(write, proposal, out=cell)
            if earlier is not None:
                cell.addcmul_(keep, _half(cells, way, earlier))
            cell.mul_(inside[:, place, None])  # before a row begins, or after it has ended, it remembers nothing
            torch.tanh(cell, out=tanh)
            torch.mul(show, tanh, out=state)
        return states, opened, cells, shown

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:], *output)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        weight, lengths, states, opened, cells, shown = ctx.saved_tensors
        border, words = 3 * weight.shape[1], opened.shape[1]
        inside = (torch.arange(words, device=slope.device) < lengths.unsqueeze(-1)).to(slope.dtype)
        deltas = torch.empty_like(opened)
        later: dict[int, tuple[Tensor, Tensor]] = {}  # by direction: slopes by state and cell
        for way, place, earlier in reversed(list(_places_in_time(words))):
            gate, delta, tanh = (_half(x, way, place) for x in (opened, deltas, shown))
            write, keep, show, proposal = gate.chunk(4, -1)
            of_write, of_keep, of_show, of_proposal = delta.chunk(4, -1)
            state = _half(slope, way, place)
            if way in later:
                state = later[way][0].add_(state)
            cell = _through_tanh(state * show, tanh)
            if way in later:
                cell.add_(later[way][1])
            cell.mul_(inside[:, place, None])
            torch.mul(cell, proposal, out=of_write)
            torch.mul(state, tanh, out=of_show)
            torch.mul(cell, write, out=of_proposal)
            if earlier is None:
                of_keep.zero_()
            else:
                torch.mul(cell, _half(cells, way, earlier), out=of_keep)
            _through_sigmoid(delta[:, :border], gate[:, :border])
            _through_tanh(of_proposal, proposal)
            if earlier is not None:
                later[way] = torch.mm(delta, weight[way].T), cell.mul_(keep)
        of_weight = None
        if ctx.needs_input_grad[1]:
            pairs = zip(states_before(states), deltas.chunk(2, -1), strict=True)
            of_weight = torch.stack([before.flatten(0, 1).T @ delta.flatten(0, 1) for before, delta in pairs])
        return deltas, of_weight, None


def _places_in_time(words: int) -> Iterator[tuple[int, int, int | None]]:
    """(direction, place, the place before it in that direction), in the order of time."""
    for time in range(words):
        yield 0, time, time - 1 if time else None
        yield 1, words - 1 - time, words - time if time else None


def _half(tensor: Tensor, way: int, place: int) -> Tensor:
    """What one direction has at one place: a view [rows, width]."""
    return tensor[:, place].chunk(2, -1)[way]


def _through_sigmoid(slope: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.sigmoid_backward.grad_input(slope, value, grad_input=slope)


def _through_tanh(slope: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.tanh_backward.grad_input(slope, value, grad_input=slope)
