"""A linear-chain conditional random field (Lafferty et al. 2001): exact likelihood, marginals and best path.

The forward recursion runs on probabilities scaled by their largest entry, alpha' = (alpha exp(T)) exp(emission), so each
step is one small matrix product. Transitions come as one table, or as one per row where gradients are kept apart.
"""

from __future__ import annotations

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
    tags = emissions.shape[-1]
    peak = transitions.detach().amax()
    pairs = (transitions[..., :tags, :] - peak).exp()
    alpha = emissions[:, 0] + transitions[..., tags, :]
    for place in range(1, emissions.shape[1]):
        top = alpha.detach().amax(-1, keepdim=True)
        mass = _times((alpha - top).exp(), pairs).clamp_min(torch.finfo(alpha.dtype).tiny)
        moved = mass.log() + top + peak + emissions[:, place]
        alpha = torch.where((place < lengths).unsqueeze(-1), moved, alpha)
    return (alpha + transitions[..., tags + 1, :]).logsumexp(-1)


def path_score(emissions: Tensor, transitions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
    rows, width, kinds = emissions.shape
    inside = torch.arange(width, device=emissions.device) < lengths.unsqueeze(-1)
    emitted = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1)
    table = transitions.expand(rows, -1, -1).reshape(rows, -1)
    moves = table.gather(1, tags[:, :-1] * kinds + tags[:, 1:])
    last = tags.gather(1, (lengths - 1).unsqueeze(-1))
    ends = table.gather(1, kinds * kinds + tags[:, :1]) + table.gather(1, (kinds + 1) * kinds + last)
    return (emitted * inside).sum(-1) + (moves * inside[:, 1:]).sum(-1) + ends.squeeze(-1)


def marginals(emissions: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """[rows, places, tags]: the probability of each tag at each place, as the slope of log Z by the emissions."""
    with torch.enable_grad():
        leaf = emissions.detach().requires_grad_()
        return torch.autograd.grad(log_partition(leaf, transitions.detach(), lengths).sum(), leaf)[0]


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


def _times(alpha: Tensor, pairs: Tensor) -> Tensor:
    return alpha @ pairs if pairs.dim() == 2 else torch.bmm(alpha.unsqueeze(1), pairs).squeeze(1)
