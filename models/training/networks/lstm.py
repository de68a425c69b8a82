"""An LSTM, in one direction or in both, whose input projection is taken out of the time loop, with its own backward pass.

All inputs are projected at once by a linear layer; the loop adds the recurrent part, both directions in one product. The
gradient of the loss by the projected input is then the gradient by the gates, delta_t, which is all that per-example clipping
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
    """The time loop: gates [rows, words, directions x 4 hidden] -> states [rows, words, directions x hidden], zero in the
    padding. One direction, from the first word on, sees nothing of what is to come."""

    def __init__(self, hidden: int, directions: int = 2):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        self.hidden = hidden
        self.weight = nn.Parameter(torch.empty(directions, hidden, 4 * hidden).uniform_(-bound, bound))

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


class Lstm(nn.Module):
    """One layer that reads from the first word to the last."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.project = nn.Linear(inputs, 4 * hidden)
        self.recur = Recurrence(hidden, directions=1)
        with torch.no_grad():
            self.project.bias.view(4, hidden)[1] = 1.0

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.recur(self.project(words), lengths)


def states_before(states: Tensor, directions: int) -> tuple[Tensor, ...]:
    """h_{t-1} of each word in each direction; padding is zero, so a row's last word has nothing behind it."""
    there, *back = states.chunk(directions, -1)
    before = nn.functional.pad(there[:, :-1], (0, 0, 1, 0))
    return before, *(nn.functional.pad(other[:, 1:], (0, 0, 0, 1)) for other in back)


class _TimeLoop(torch.autograd.Function):
    """Gates in the order write, keep, show, proposal.

    Inside, tensors are [time, direction, rows, ...]: the second direction is turned round once, so that one operation
    serves both directions and works on one stretch of memory.
    """

    @staticmethod
    def forward(gates: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        directions, hidden = weight.shape[:2]
        opened = _by_time(gates, directions)
        states, cells, shown = (opened.new_empty(*opened.shape[:3], hidden) for _ in range(3))
        steps = zip(
            *(x.unbind() for x in (opened, states, cells, shown, _inside(gates, lengths, directions))), strict=True
        )
        parts = zip(*(part.unbind() for part in opened.split((3 * hidden, hidden), -1)), strict=True)
        kinds = zip(*(kind.unbind() for kind in opened.chunk(4, -1)), strict=True)
        before: tuple[Tensor, Tensor] | None = None
        for (gate, state, cell, tanh, inside), (sigmoids, proposals), (write, keep, show, proposal) in zip(
            steps, parts, kinds, strict=True
        ):
            if before is not None:
                gate.baddbmm_(before[0], weight)
            sigmoids.sigmoid_()
            proposals.tanh_()
            torch.mul(write, proposal, out=cell)
            if before is not None:
                cell.addcmul_(keep, before[1])
            cell.mul_(inside)  # before a row begins, or after it has ended, it remembers nothing
            torch.tanh(cell, out=tanh)
            torch.mul(show, tanh, out=state)
            before = state, cell
        return _by_row(states), opened, cells, shown

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:], *output)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        weight, lengths, states, opened, cells, shown = ctx.saved_tensors
        directions, border = weight.shape[0], 3 * weight.shape[1]
        deltas, back = torch.empty_like(opened), weight.transpose(1, 2)
        whole = (_by_time(gradient, directions), opened, deltas, shown, _inside(gradient, lengths, directions))
        steps = list(zip(*(x.unbind() for x in whole), strict=True))
        kinds = list(zip(*(kind.unbind() for x in (opened, deltas) for kind in x.chunk(4, -1)), strict=True))
        earlier_cells = [None, *cells.unbind()[:-1]]
        later: tuple[Tensor, Tensor] | None = None  # gradients by state and cell
        for (state, gate, delta, tanh, inside), kind, earlier in zip(
            reversed(steps), reversed(kinds), reversed(earlier_cells), strict=True
        ):
            write, keep, show, proposal, of_write, of_keep, of_show, of_proposal = kind
            if later is not None:
                state = later[0].add_(state)
            cell = _through_tanh(state * show, tanh)
            if later is not None:
                cell.add_(later[1])
            cell.mul_(inside)
            torch.mul(cell, proposal, out=of_write)
            torch.mul(state, tanh, out=of_show)
            torch.mul(cell, write, out=of_proposal)
            if earlier is None:
                of_keep.zero_()
            else:
                torch.mul(cell, earlier, out=of_keep)
            _through_sigmoid(delta[..., :border], gate[..., :border])
            _through_tanh(of_proposal, proposal)
            if earlier is not None:
                later = torch.bmm(delta, back), cell.mul_(keep)
        by_row = _by_row(deltas)
        of_weight = None
        if ctx.needs_input_grad[1]:
            pairs = zip(states_before(states, directions), by_row.chunk(directions, -1), strict=True)
            of_weight = torch.stack([before.flatten(0, 1).T @ delta.flatten(0, 1) for before, delta in pairs])
        return by_row, of_weight, None


def _by_time(by_row: Tensor, directions: int) -> Tensor:
    """[rows, words, width of all directions] -> [time, direction, rows, width]; time runs backwards for the second."""
    there, *back = by_row.transpose(0, 1).chunk(directions, -1)
    by_time = by_row.new_empty(there.shape[0], directions, *there.shape[1:])
    by_time[:, 0] = there
    for other in back:
        by_time[:, 1] = other.flip(0)
    return by_time


def _by_row(by_time: Tensor) -> Tensor:
    there, *back = by_time.unbind(1)
    return torch.cat([there.transpose(0, 1), *(other.flip(0).transpose(0, 1) for other in back)], -1)


def _inside(by_row: Tensor, lengths: Tensor, directions: int) -> Tensor:
    """1 where a row has a word at that time in that direction, [time, direction, rows, 1]."""
    inside = (torch.arange(by_row.shape[1], device=by_row.device) < lengths.unsqueeze(-1)).to(by_row.dtype)
    return torch.stack([inside.T, inside.flip(1).T][:directions], 1).unsqueeze(-1)


def _through_sigmoid(gradient: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.sigmoid_backward.grad_input(gradient, value, grad_input=gradient)


def _through_tanh(gradient: Tensor, value: Tensor) -> Tensor:
    return torch.ops.aten.tanh_backward.grad_input(gradient, value, grad_input=gradient)
