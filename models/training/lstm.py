"""A bidirectional LSTM whose input projection is taken out of the time loop.

All inputs are projected at once by a linear layer; the loop adds the recurrent part, both directions in one product.
The slope of the loss by the projected input is then the slope by the gates, delta_t, which is all that per-example
clipping needs: dW_input = sum_t delta_t x_t', dW_recurrent = sum_t delta_t h_{t-1}'.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class Recurrence(nn.Module):
    """The time loop. `forward` returns the states and the states before them; gates come in the order of time."""

    def __init__(self, hidden: int):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        self.hidden = hidden
        self.weight = nn.Parameter(torch.empty(2, hidden, 4 * hidden).uniform_(-bound, bound))

    def forward(self, gates: Tensor) -> tuple[Tensor, Tensor]:
        """gates [time, direction, row, 4 hidden] -> (h_t, h_{t-1}), each [time, direction, row, hidden]."""
        hidden = self.hidden
        state = gates.new_zeros(2, gates.shape[2], hidden)
        cell, states = state, [state]
        for gate in gates.unbind(0):
            open_, proposed = torch.baddbmm(gate, states[-1], self.weight).split([3 * hidden, hidden], -1)
            write, keep, show = open_.sigmoid().chunk(3, -1)
            cell = keep * cell + write * proposed.tanh()
            states.append(show * cell.tanh())
        return torch.stack(states[1:]), torch.stack(states[:-1])


class BiLstm(nn.Module):
    """One layer. A row's second direction runs backwards over its own words, so padding touches neither direction."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.project = nn.Linear(inputs, 8 * hidden)
        self.recur = Recurrence(hidden)
        with torch.no_grad():  # begin by remembering (Jozefowicz et al. 2015)
            self.project.bias.view(2, 4, hidden)[:, 1] = 1.0

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        rows, width, _ = words.shape
        gates = self.project(words).view(rows, width, 2, -1)
        there, back = gates.unbind(2)
        place = torch.arange(width, device=words.device).expand(rows, -1)
        mirror = torch.where(place < lengths.unsqueeze(-1), lengths.unsqueeze(-1) - 1 - place, place)
        in_time = torch.stack([there, _reordered(back, mirror)]).permute(2, 0, 1, 3)
        there, back = self.recur(in_time)[0].permute(1, 2, 0, 3).unbind(0)
        return torch.cat([there, _reordered(back, mirror)], -1)


def _reordered(values: Tensor, order: Tensor) -> Tensor:
    return values.gather(1, order.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
