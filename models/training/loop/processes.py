"""One process per device: who we are, and a sum whose order does not depend on how many we are.

An all-reduce adds in an order of its own. Here each process receives one stretch of everybody's vector, adds in the
order of ranks, and hands the result round (the traffic of a ring all-reduce), so that N processes give bit for bit what
one process gives that adds N vectors one after the other. Vectors are sent from and received into the place where they
are used: a copy of all gradients would cost as much as the noise.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

NO_AMX = "AVX512_CORE_FP16"
GLIBC_KEEPS = {-1: 1 << 30, -2: 1 << 26, -3: 1 << 25}  # M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD at its largest


@dataclass(frozen=True)
class Processes:
    """This process among those that train together: which it is (`rank`), of how many, on which device."""

    rank: int
    count: int
    device: torch.device
    _arrived: dict[int, dict[int, Tensor]] = field(default_factory=dict, repr=False, compare=False)  # by length

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and reports for all of them."""
        return self.rank == 0

    def add_in_order(self, vector: Tensor) -> None:
        """`vector` becomes the sum over all processes, on each of them."""
        if self.count == 1:
            return
        stretches = vector.tensor_split(self.count)
        own, others = stretches[self.rank], [rank for rank in range(self.count) if rank != self.rank]
        if len(vector) not in self._arrived:
            self._arrived[len(vector)] = {rank: torch.empty_like(own) for rank in others}
        arrived = self._arrived[len(vector)]
        _exchange({rank: stretches[rank] for rank in others}, arrived)
        total, *rest = (own if rank == self.rank else arrived[rank] for rank in range(self.count))
        for part in rest:
            total.add_(part)
        if total is not own:
            own.copy_(total)
        _exchange({rank: own for rank in others}, {rank: stretches[rank] for rank in others})

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


def _exchange(sent: dict[int, Tensor], received: dict[int, Tensor]) -> None:
    """One tensor to and one from each of the other ranks, all at once."""
    messages = [dist.P2POp(dist.isend, tensor, rank) for rank, tensor in sent.items()]
    messages += [dist.P2POp(dist.irecv, tensor, rank) for rank, tensor in received.items()]
    for message in dist.batch_isend_irecv(messages):
        message.wait()


def join(device: str = "auto") -> Processes:
    """Alone, or as torchrun started us: nccl between GPUs, gloo between CPUs."""
    # Some virtual machines announce AMX and end the process that uses it. Read once, before torch multiplies anything.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", NO_AMX)
    keep_memory()
    rank, count = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    use_gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(place)
    if count > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if use_gpu else "gloo")
    return Processes(rank, count, place)


def keep_memory() -> None:
    """What a step frees serves the next one. glibc hands large pieces back to the system, and having their pages brought in
    again took as long as what was computed in them."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # another library has its own ways
    if set_option is not None:
        for option, size in GLIBC_KEEPS.items():
            set_option(option, size)
