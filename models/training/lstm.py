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
        arriving = _in_time(slope, mirror)
        write, keep, show, proposal = opened.chunk(4, -1)
        hidden = weight.shape[1]
        bend = torch.cat([opened[..., : 3 * hidden] * (1 - opened[..., : 3 * hidden]), 1 - proposal.square()], -1)
        through = show * (1 - shown.square())
        deltas, back = torch.empty_like(opened), weight.mT.contiguous()
        later_state = later_cell = None
        for time in range(len(opened) - 1, -1, -1):
            state = arriving[time] if later_state is None else arriving[time].add_(later_state)
            cell = state * through[time]
            if later_cell is not None:
                cell.add_(later_cell)
            of_write, of_keep, of_show, of_proposal = deltas[time].chunk(4, -1)
            torch.mul(cell, proposal[time], out=of_write)
            torch.mul(state, shown[time], out=of_show)
            torch.mul(cell, write[time], out=of_proposal)
            if time:
                torch.mul(cell, cells[time - 1], out=of_keep)
            else:
                of_keep.zero_()
            deltas[time].mul_(bend[time])
            if time:
                later_state, later_cell = torch.bmm(deltas[time], back), cell.mul_(keep[time])
        of_weight = None
        if ctx.needs_input_grad[1]:
            flat = deltas.transpose(0, 1).flatten(1, 2)
            of_weight = torch.bmm(states[:-1].transpose(0, 1).flatten(1, 2).mT, flat)
        return _in_words(deltas, mirror), of_weight, None


def _in_time(values: Tensor, mirror: Tensor) -> Tensor:
    """[rows, words, 2 x width] -> [time, direction, rows, width], a fresh tensor."""
    there, back = values.chunk(2, -1)
    return torch.stack([there, _reordered(back, mirror)]).permute(2, 0, 1, 3).contiguous()


def _in_words(values: Tensor, mirror: Tensor) -> Tensor:
    """[time, direction, rows, width] -> [rows, words, 2 x width]."""
    there, back = values.permute(1, 2, 0, 3).unbind(0)
    return torch.cat([there, _reordered(back, mirror)], -1)


def _reordered(values: Tensor, order: Tensor) -> Tensor:
    return values.gather(1, order.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
