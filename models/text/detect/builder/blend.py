"""A mean of the weights before and after a further training: it keeps most of what was known and of what is new.

Interpolating fine-tuned weights with those they began from (WiSE-FT, Wortsman et al. 2022, arXiv 2109.01903). Which share of the
new ones is kept is chosen on dev data, with the bias of each type chosen anew for every share.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from sottovoce.models.errors import RunError
from sottovoce.models.text.detect.builder.export import export
from sottovoce.models.text.detect.builder.transformer import Trained


def blended(
    start: Mapping[str, torch.Tensor], end: Mapping[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """(1 - share) start + share end, tensor by tensor; whole-number tensors are those of the end."""
    return {
        name: start[name].lerp(tensor, share) if tensor.is_floating_point() else tensor for name, tensor in end.items()
    }


def cheapest_blend(
    trained: Trained, encoder: Path, window: int, probes: Sequence[str],
    cost: Callable[[Path], tuple[Mapping[str, float], float]], shares: Sequence[float], say: Callable[[str], None],
) -> float:  # fmt: skip
    """Leaves the cheapest in `trained` and returns its share; `cost` is told the folder of each, as it would ship."""
    if not trained.start:
        raise RunError("tune.blends needs train.start: there is nothing to take the mean with")
    end = {name: tensor.detach().clone() for name, tensor in trained.model.state_dict().items()}
    paid: dict[float, float] = {}
    for share in shares:
        trained.model.load_state_dict(blended(trained.start, end, share))
        with tempfile.TemporaryDirectory() as work:
            export(trained, encoder, window, 0.0, probes, Path(work))
            by_type, paid[share] = cost(Path(work))
        say(f"{share:.2f} of the new weights: dev cost {paid[share]:.5f}, bias by type {dict(by_type)}")
    best = min(paid, key=lambda share: paid[share])
    trained.model.load_state_dict(blended(trained.start, end, best))
    return best
