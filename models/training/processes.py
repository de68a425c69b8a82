"""One process per device: who we are, and a sum whose order does not depend on how many we are.

An all-reduce adds in an order of its own. Here each process receives one stretch of everybody's vector, adds in the
order of ranks, and hands the result round (the traffic of a ring all-reduce), so that N processes give bit for bit what
one process gives that adds N vectors one after the other.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Processes:
    rank: int
    count: int
    device: torch.device

    @property
    def first(self) -> bool:
        return self.rank == 0

    def add_in_order(self, vector: Tensor) -> None:
        """`vector` becomes the sum over all processes, on each of them."""
        if self.count == 1:
            return
        stretch = -(-len(vector) // self.count)
        sent = torch.nn.functional.pad(vector, (0, stretch * self.count - len(vector)))
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        total, *others = received.view(self.count, stretch).unbind(0)
        for other in others:
            total.add_(other)
        dist.all_gather_into_tensor(sent, total.contiguous())
        vector.copy_(sent[: len(vector)])

    def from_first(self, value: Any) -> Any:
        """What the first process has, on all of them."""
        if self.count == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def leave(self) -> None:
        if self.count > 1:
            dist.destroy_process_group()


def join(device: str = "auto") -> Processes:
    """Alone, or as torchrun started us: nccl between GPUs, gloo between CPUs."""
    rank, count = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    use_gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(place)
    if count > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if use_gpu else "gloo")
    return Processes(rank, count, place)
