"""A bidirectional LSTM whose input projection is taken out of the time loop, with its own backward pass.

All inputs are projected at once by a linear layer; the loop adds the recurrent part, both directions in one product. The
slope of the loss by the projected input is then the slope by the gates, delta_t, which is all that per-example clipping
needs: dW_input = sum_t delta_t x_t', dW_recurrent = sum_t delta_t h_{t-1}'. The backward pass is written out, so that
dW_recurrent is one product over all times instead of one per time.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class Recurrence(nn.Module):
    """The time loop: gates [rows, words, 2 x 4 hidden] -> states [rows, words, 2 x hidden]."""

    def __init__(self, hidden: int):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        self.hidden = hidden
        self.weight = nn.Parameter(torch.empty(2, hidden, 4 * hidden).uniform_(-bound, bound))

    def forward(self, gates: Tensor, mirror: Tensor) -> Tensor:
        # the recursion stays in the precision of the weights, also under autocast
        with torch.autocast(gates.device.type, enabled=False):
            return _TimeLoop.apply(gates.to(self.weight.dtype), self.weight, mirror)[0]


class BiLstm(nn.Module):
    """One layer. A row's second direction runs backwards over its own words, so padding touches neither direction."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.project = nn.Linear(inputs, 8 * hidden)
        self.recur = Recurrence(hidden)
        with torch.no_grad():  # begin by remembering (Jozefowicz et al. 2015)
            self.project.bias.view(2, 4, hidden)[:, 1] = 1.0

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        place = torch.arange(words.shape[1], device=words.device).expand(len(words), -1)
        last = lengths.unsqueeze(-1) - 1
        mirror = torch.where(place <= last, last - place, place)  # its own inverse
        return self.recur(self.project(words), mirror)


def states_before(states: Tensor, mirror: Tensor) -> tuple[Tensor, Tensor]:
    """h_{t-1} of each word in each direction, zero at the first one; padding holds what no slope will meet."""
    there, back = states.chunk(2, -1)
    following = nn.functional.pad(back[:, 1:], (0, 0, 0, 1))
    return nn.functional.pad(there[:, :-1], (0, 0, 1, 0)), following.masked_fill((mirror == 0).unsqueeze(-1), 0)


class _TimeLoop(torch.autograd.Function):
    """Gates in the order write, keep, show, proposal. Inside, tensors are [time, direction, row, width]."""

    @staticmethod
    def forward(gates: Tensor, weight: Tensor, mirror: Tensor) -> tuple[Tensor, ...]:
        hidden = weight.shape[1]
        opened = _in_time(gates, mirror)
        shape = (*opened.shape[:3], hidden)
        cells, shown = opened.new_empty(shape), opened.new_empty(shape)
        states = opened.new_zeros(shape[0] + 1, *shape[1:])  # states[t] is the state before word t
        for time, gate in enumerate(opened.unbind(0)):
            gate.baddbmm_(states[time], weight)
            gate[..., : 3 * hidden].sigmoid_()
            gate[..., 3 * hidden :].tanh_()
            write, keep, show, proposal = gate.chunk(4, -1)
            torch.mul(write, proposal, out=cells[time])
            if time:
                cells[time].addcmul_(keep, cells[time - 1])
            torch.tanh(cells[time], out=shown[time])
            torch.mul(show, shown[time], out=states[time + 1])
        return _in_words(states[1:], mirror), opened, cells, shown, states

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:], *output[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        weight, mirror, opened, cells, shown, states = ctx.saved_tensors
        arriving, deltas, back = _in_time(slope, mirror), torch.empty_like(opened), weight.mT.contiguous()
        border = 3 * weight.shape[1]
        later_state = later_cell = None
        for time in range(len(opened) - 1, -1, -1):
            gate, delta = opened[time], deltas[time]
            write, keep, show, proposal = gate.chunk(4, -1)
            of_write, of_keep, of_show, of_proposal = delta.chunk(4, -1)
            state = arriving[time] if later_state is None else later_state.add_(arriving[time])
            cell = _through_tanh(state * show, shown[time])
            if later_cell is not None:
                cell.add_(later_cell)
            torch.mul(cell, proposal, out=of_write)
            torch.mul(state, shown[time], out=of_show)
            torch.mul(cell, write, out=of_proposal)
            if time:
                torch.mul(cell, cells[time - 1], out=of_keep)
                later_cell = cell.mul_(keep)
            else:
                of_keep.zero_()
            _through_sigmoid(delta[..., :border], gate[..., :border])
            _through_tanh(of_proposal, proposal)
            if time:
                later_state = torch.bmm(delta, back)
        of_weight = None
        if ctx.needs_input_grad[1]:
            before, flat = (part.transpose(0, 1).flatten(1, 2) for part in (states[:-1], deltas))
            of_weight = torch.bmm(before.mT, flat)
        return _in_words(deltas, mirror), of_weight, None


def _through_sigmoid(slope: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.sigmoid_backward.grad_input(slope, value, grad_input=slope)


def _through_tanh(slope: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.tanh_backward.grad_input(slope, value, grad_input=slope)


def _in_time(values: Tensor, mirror: Tensor) -> Tensor:
    """[rows, words, 2 x width] -> [time, direction, rows, width], a fresh tensor made in one pass."""
    rows, words = mirror.shape
    first = torch.arange(rows, device=mirror.device) * words
    places = torch.stack([torch.arange(words, device=mirror.device).expand_as(mirror), mirror]).permute(2, 0, 1) + first
    chosen = places * 2 + torch.arange(2, device=mirror.device).view(1, 2, 1)
    return values.reshape(2 * rows * words, -1).index_select(0, chosen.flatten()).view(words, 2, rows, -1)


def _in_words(values: Tensor, mirror: Tensor) -> Tensor:
    """[time, direction, rows, width] -> [rows, words, 2 x width], the same way back."""
    rows, words = mirror.shape
    times = torch.stack([torch.arange(words, device=mirror.device).expand_as(mirror), mirror], -1)
    chosen = (times * 2 + torch.arange(2, device=mirror.device)) * rows
    chosen = chosen + torch.arange(rows, device=mirror.device).view(-1, 1, 1)
    return values.reshape(2 * rows * words, -1).index_select(0, chosen.flatten()).view(rows, words, -1)
