"""The likeliest CTC path through given labels, exactly, for a batch (Graves et al. 2006, section 4.1, with max for sum).

Labels l1..lL are interleaved with blanks: states 0..2L, odd ones are labels. From one frame to the next a path stays, steps
to the next state, or skips a blank between two labels that differ. It begins in state 0 or 1 and ends in 2L or 2L-1.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

NOWHERE = float("-inf")


def best_paths(
    log_probabilities: torch.Tensor, frames: Sequence[int], labels: Sequence[Sequence[int]], blank: int
) -> tuple[list[list[int]], list[float]]:
    """For each item its state at every frame and the path's log probability (-inf and no states where none fits).

    `log_probabilities` is (batch, time, vocabulary); item b has `frames[b]` valid frames and `labels[b]` labels.
    """
    batch, time, _ = log_probabilities.shape
    symbols, sizes = _interleaved(labels, blank)
    emitted = log_probabilities.gather(2, symbols[:, None, :].expand(-1, time, -1))
    may_skip = torch.zeros_like(symbols, dtype=torch.bool)
    may_skip[:, 2:] = (symbols[:, 2:] != blank) & (symbols[:, 2:] != symbols[:, :-2])
    score = torch.full_like(emitted[:, 0], NOWHERE)
    score[:, :2] = emitted[:, 0, :2]
    score = score.masked_fill(torch.arange(score.shape[1]) >= sizes[:, None], NOWHERE)
    final = torch.where(torch.tensor(frames)[:, None] == 1, score, torch.full_like(score, NOWHERE))
    steps = torch.zeros(time, batch, score.shape[1], dtype=torch.uint8)
    for t in range(1, time):
        arrivals = torch.stack([score, _moved(score, 1), _moved(score, 2).masked_fill(~may_skip, NOWHERE)])
        best, steps[t] = arrivals.max(dim=0).values, arrivals.argmax(dim=0).to(torch.uint8)
        score = best + emitted[:, t]
        final = torch.where(torch.tensor(frames)[:, None] == t + 1, score, final)
    return _traced(final, steps, frames, sizes)


def _interleaved(labels: Sequence[Sequence[int]], blank: int) -> tuple[torch.Tensor, torch.Tensor]:
    sizes = torch.tensor([2 * len(item) + 1 for item in labels])
    symbols = torch.full((len(labels), int(sizes.max())), blank)
    for row, item in enumerate(labels):
        symbols[row, 1 : 2 * len(item) : 2] = torch.tensor(list(item), dtype=torch.long)
    return symbols, sizes


def _moved(score: torch.Tensor, by: int) -> torch.Tensor:
    moved = torch.full_like(score, NOWHERE)
    moved[:, by:] = score[:, :-by]
    return moved


def _traced(
    final: torch.Tensor, steps: torch.Tensor, frames: Sequence[int], sizes: torch.Tensor
) -> tuple[list[list[int]], list[float]]:
    paths, scores = [], []
    moves = steps.numpy()
    for row, (count, size) in enumerate(zip(frames, sizes.tolist(), strict=True)):
        ends = [state for state in (size - 1, size - 2) if state >= 0]
        state = max(ends, key=lambda end: final[row, end].item())
        score = final[row, state].item()
        scores.append(score)
        path = []
        for t in range(count - 1, -1, -1):
            path.append(state)
            state -= int(moves[t, row, state])
        paths.append(path[::-1] if score > NOWHERE else [])
    return paths, scores
