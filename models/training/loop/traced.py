"""A network as one file that runs without this project: `torch.export`, checked against the network before it is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sottovoce.models.errors import RunError
from sottovoce.models.training.batches import NamedBatch
from sottovoce.models.training.loop.export import TrainedModel

AGREE = 1e-5


class _OfTensors(nn.Module):
    """The scores of a network, from plain tensors by name and how long each row of them is."""

    def __init__(self, network: Any):
        super().__init__()
        self.network = network

    def forward(self, tensors: dict[str, Tensor], lengths: dict[str, Tensor]) -> Any:
        rows = next(iter(lengths.values())).shape[0]
        return self.network.scores(NamedBatch(tensors, lengths, torch.ones(rows)))


def _without_traces(program: Any) -> Any:
    """Each operation knows the line of code that it came from: a path of this machine, which often names its owner."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            node.meta.pop("stack_trace", None)
    return program


def write_traced(model: TrainedModel, path: Path) -> None:
    """Rows and places may be of any number afterwards. The file takes its name once it has answered as the network does."""
    small, large = (model.member.trial(*shape) for shape in ((3, 40), (5, 77)))
    if small is None or large is None:
        raise RunError(
            f"{path}: this network has a loop over time that torch.export cannot hold; convolutions (task: am) can be written. "
            "model.json and weights.safetensors hold the model whole"
        )
    network = _OfTensors(model.network).eval()
    free = tuple(
        {name: {axis: torch.export.Dim.AUTO for axis in range(axes)} for name in part}
        for part, axes in zip(small, (2, 1), strict=True)
    )
    draft = path.with_name(f"{path.stem}.draft.pt2")  # the ending is torch's own
    with torch.no_grad():
        torch.export.save(_without_traces(torch.export.export(network, small, dynamic_shapes=free)), draft)
        again, here = torch.export.load(draft).module()(*large), network(*large)
    if any(not torch.allclose(one, other, atol=AGREE) for one, other in zip(again, here, strict=True)):
        draft.unlink()
        raise RunError(f"{path}: what was written does not answer as the network does; nothing is kept")
    os.replace(draft, path)
