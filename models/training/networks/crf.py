"""A linear-chain conditional random field (Lafferty et al. 2001): exact likelihood, marginals and best path.

Forward and backward recursion run on scaled probabilities (Rabiner 1989, sec. V.A) in double precision, one small matrix
product a step, and give the gradients in closed form: tag marginals for the emissions, expected pairs for the transitions.
Transitions come as one table, or spread over the rows where the gradients of rows are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


class Transitions(nn.Module):
    """Scores of tag pairs: rows 0..K-1 from tag to tag, row K from the start, row K+1 to the end."""

    def __init__(self, tags: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(tags + 2, tags).uniform_(-0.1, 0.1))
        self.per_row = False  # set while gradients are taken per row

    def forward(self, rows: int) -> Tensor:
        return self.scores.expand(rows, -1, -1) if self.per_row else self.scores


def negative_log_likelihood(emissions: Tensor, transitions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
    """[rows]: minus the log probability of each row's tags."""
    return log_partition(emissions, transitions, lengths) - path_score(emissions, transitions, tags, lengths)


def log_partition(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """[rows]: logarithm of the summed exp(score) of all tag sequences, with gradients in closed form."""
    return _LogPartition.apply(emissions, transitions, lengths)[0]


@dataclass
class _Chain:
    """What the forward recursion leaves: states [rows, places, tags] of sum 1, and what they were scaled by."""

    states: Tensor
    scales: Tensor
    emitted: Tensor
    pairs: Tensor
    ends: Tensor
    inside: Tensor
    log_partition: Tensor


def _forward(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> _Chain:
    places, tags = emissions.shape[1:]
    table = transitions if transitions.dim() == 2 else transitions[0]  # spread over rows: all are one table
    emissions, table = emissions.detach().double(), table.detach().double()
    top, peak = emissions.amax(-1, keepdim=True), table[:tags].amax()
    emitted, pairs = (emissions - top).exp(), (table[:tags] - peak).exp()
    first, last = table[tags].amax(), table[tags + 1].amax()
    inside = torch.arange(places, device=emissions.device) < lengths.unsqueeze(-1)
    raw = (table[tags] - first).exp() * emitted[:, 0]
    states: list[Tensor] = []
    scales: list[Tensor] = []
    for place in range(places):
        if place:
            raw = (states[-1] @ pairs) * emitted[:, place]
        scale = raw.sum(-1, keepdim=True).clamp_min(1e-300)
        here = inside[:, place : place + 1]
        states.append(torch.where(here, raw / scale, states[-1] if place else raw))
        scales.append(torch.where(here, scale, torch.ones_like(scale)))
    mass = (states[-1] * (table[tags + 1] - last).exp()).sum(-1, keepdim=True).clamp_min(1e-300)
    ends = (table[tags + 1] - last).exp() / mass
    scaled = torch.cat(scales, -1)
    moved = (top.squeeze(-1) * inside).sum(-1) + (lengths - 1) * peak + first + last
    log_z = scaled.log().sum(-1) + mass.log().squeeze(-1) + moved
    return _Chain(torch.stack(states, 1), scaled, emitted, pairs, ends, inside, log_z)


def _backward(chain: _Chain) -> tuple[Tensor, Tensor]:
    """(marginals, flows): flows[t] is what pairs into place t carry, so that expected pairs = pairs * states' flows."""
    places = chain.states.shape[1]
    later, flows = [chain.ends], [torch.zeros_like(chain.ends)]
    for place in range(places - 1, 0, -1):
        here = chain.inside[:, place : place + 1]
        flow = chain.emitted[:, place] * later[-1] / chain.scales[:, place : place + 1]
        flows.append(torch.where(here, flow, torch.zeros_like(flow)))
        later.append(torch.where(here, flow @ chain.pairs.mT, later[-1]))
    marginal = chain.states * torch.stack(later[::-1], 1) * chain.inside.unsqueeze(-1)
    return marginal, torch.stack([flows[0], *flows[:0:-1]], 1)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        chain = _forward(emissions, transitions, lengths)
        marginal, flows = _backward(chain)
        before = chain.states[:, :-1]
        log_z = chain.log_partition.to(emissions.dtype)
        return log_z, marginal, before, flows[:, 1:], chain.pairs, chain.states[:, -1] * chain.ends

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])
        ctx.per_row, ctx.dtype = inputs[1].dim() == 3, inputs[0].dtype

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        marginal, before, flows, pairs, last = ctx.saved_tensors
        gradient = gradient.double().unsqueeze(-1)
        of_emissions = marginal * gradient.unsqueeze(-1)
        first, last, weighted = of_emissions[:, :1], (last * gradient).unsqueeze(1), before * gradient.unsqueeze(-1)
        if ctx.per_row:
            moves = torch.bmm(weighted.mT, flows) * pairs
            of_table = torch.cat([moves, first, last], 1)
        else:
            moves = (weighted.flatten(0, 1).mT @ flows.flatten(0, 1)) * pairs
            of_table = torch.cat([moves, first.sum(0), last.sum(0)], 0)
        return of_emissions.to(ctx.dtype), of_table.to(ctx.dtype), None


def path_score(emissions: Tensor, transitions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
    """[rows]: score of each row's tags from start to end; tags behind its length do not count, but must be valid indices."""
    rows, width, kinds = emissions.shape
    inside = torch.arange(width, device=emissions.device) < lengths.unsqueeze(-1)
    emitted = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1)
    table = transitions.expand(rows, -1, -1).reshape(rows, -1)
    moves = table.gather(1, tags[:, :-1] * kinds + tags[:, 1:])
    last = tags.gather(1, (lengths - 1).unsqueeze(-1))
    ends = table.gather(1, kinds * kinds + tags[:, :1]) + table.gather(1, (kinds + 1) * kinds + last)
    return (emitted * inside).sum(-1) + (moves * inside[:, 1:]).sum(-1) + ends.squeeze(-1)


def marginals(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """[rows, places, tags]: the probability of each tag at each place."""
    return _backward(_forward(emissions, transitions, lengths))[0].to(emissions.dtype)


@torch.no_grad()
def best_path(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """[rows, places]: the most probable tags (Viterbi); what stands beyond a row's length means nothing."""
    tags = emissions.shape[-1]
    table = transitions.expand(len(emissions), -1, -1)
    score, pointers = emissions[:, 0] + table[:, tags], []
    stay = torch.arange(tags, device=emissions.device).expand(len(emissions), -1)
    for place in range(1, emissions.shape[1]):
        best, origin = (score.unsqueeze(-1) + table[:, :tags]).max(1)
        inside = (place < lengths).unsqueeze(-1)
        score = torch.where(inside, best + emissions[:, place], score)
        pointers.append(torch.where(inside, origin, stay))
    path = [(score + table[:, tags + 1]).argmax(-1)]
    for pointer in reversed(pointers):
        path.append(pointer.gather(1, path[-1].unsqueeze(-1)).squeeze(-1))
    return torch.stack(path[::-1], 1)
