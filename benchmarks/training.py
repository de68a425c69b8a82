"""What privacy costs in time: seconds per step as ratios to plain Adam, measured in turn in one run.

    OMP_NUM_THREADS=1 python benchmarks/training.py [--models clc bert] [--rounds 9] [--no-opacus] [--no-processes]

Models of the paper's size on sentences of 16 words, 32 a step; SNIPS-like schema (39 slots, 7 intents), 8000 words. All
variants use the same fused Adam and include their noise. The first row of each table is what one would write without
privacy: for CLC with torch's own nn.LSTM, in two processes with DistributedDataParallel. Variants take turns step by
step, so that a busy moment hits all alike: the ratio of the least CPU seconds is what an idle machine would show, the
median over the rounds of each round's own ratio is what this one did. CPU seconds are those of one process, with all
its threads. paper and sound play 8 devices one after the
other in the first table; in the second each of 2 processes over gloo is one device with 32 sentences.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from sottovoce.models.randomness import Secret
from sottovoce.models.training.batches import Batch, Encoded, collate
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.loop.processes import Processes, join
from sottovoce.models.training.networks.bert import Bert
from sottovoce.models.training.networks.clc import Clc, ClcReader
from sottovoce.models.training.networks.network import IntentSlotNetwork
from sottovoce.models.training.privacy.edp import Workbench, gradient_of_step
from sottovoce.models.training.privacy.flat import FlatGradients
from sottovoce.models.training.privacy.noise import NoiseSource
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.tasks.slu import Understanding
from sottovoce.models.training.train_settings import TrainSettings

LABELS = Labels(tuple(f"i{n}" for n in range(7)), tuple(f"s{n}" for n in range(39)))
ROWS, WORDS = 32, 16
HEADER = "| model | {} | least CPU s | ratio | ratio by round, CPU | ratio by round, clock |\n|---|---|---|---|---|---|"
MEMBERS = {"clc": Clc(), "bert": Bert(dropout=0.0)}


class TorchLstm(nn.Module):
    """Both layers by nn.LSTM: what stands in the place of the reader's own layers in the plain baseline."""

    def __init__(self, inputs: int, hidden: int, layers: int):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True, bidirectional=True)

    def forward(self, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.lstm(words)[0]  # all sentences are of one length here: nothing to pack


def sentences(member: Clc | Bert, count: int) -> list[Encoded]:
    draw = np.random.default_rng(0)
    rows = []
    for _ in range(count):
        tokens = [f"w{word}" for word in draw.integers(0, 20_000, WORDS)]
        features = member.encoder().encode(tokens)
        rows.append(Encoded(features, draw.integers(0, len(LABELS.tags), WORDS), int(draw.integers(7))))
    return rows


def plain_network(member: Clc | Bert) -> IntentSlotNetwork:
    network = member.network(LABELS)
    if isinstance(member, Clc) and isinstance(network.reader, ClcReader):
        width = member.word_size + member.filters
        network.reader.lstms = nn.ModuleList([TorchLstm(width, member.hidden, member.layers)])
    return network


def plain_step(network: nn.Module, batch: Batch) -> Callable[[int], None]:
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, fused=True)

    def step(number: int) -> None:
        optimizer.zero_grad()
        (network(batch) * batch.weights).sum().backward()
        optimizer.step()

    return step


def private_step(
    member: Clc | Bert, rows: list[Encoded], settings: TrainSettings, who: Processes
) -> Callable[[int], None]:
    torch.manual_seed(0)
    network, key = member.network(LABELS), Secret(b"the key of the benchmark")
    plan, flat = make_plan(settings, len(rows), who.count), FlatGradients(network)
    parts = settings.n_micro if settings.mode in ("paper", "sound") else 1
    bench = Workbench(
        network=network,
        task=Understanding(),
        rows=rows,
        units=[[row] for row in range(len(rows))],
        plan=plan,
        sampler=Sampler(key, "shuffle", len(rows), settings.batch_size, parts),
        key=key,
        processes=who,
        flat=flat,
        noise=NoiseSource(key, len(flat.vector), who.device),
    )
    optimizer = torch.optim.Adam(flat.parameters, 1e-3, fused=True)

    def step(number: int) -> None:
        gradient_of_step(bench, number)
        optimizer.step()

    return step


def variants(name: str, with_opacus: bool) -> dict[str, Callable[[int], None]]:
    member, alone = MEMBERS[name], Processes(0, 1, torch.device("cpu"))
    rows = sentences(member, ROWS)
    batch = collate(rows)
    base = TrainSettings(z0=1.0, batch_size=ROWS, n_micro=8, sampling="shuffle", delta=1e-3)
    steps = {
        "plain": plain_step(plain_network(member), batch),
        "plain, own layers": plain_step(member.network(LABELS), batch),
        "paper, 8 micro-batches": private_step(member, rows, replace(base, mode="paper"), alone),
        "sound, 8 micro-batches": private_step(member, rows, base, alone),
        "per_example": private_step(member, rows, replace(base, mode="per_example"), alone),
    }
    if with_opacus:
        from training_opacus import opacus_step

        steps["Opacus per-sample"] = opacus_step(member, LABELS, batch, ghost=False)
        steps["Opacus ghost"] = opacus_step(member, LABELS, batch, ghost=True)
    return steps


def measure(steps: dict[str, Callable[[int], None]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """(CPU seconds of this process, seconds of the clock) of each step; variants take turns, step by step."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        for name, step in steps.items():
            began = time.process_time(), time.perf_counter()
            step(number)
            if number:  # the first round warms up
                seconds[name].append((time.process_time() - began[0], time.perf_counter() - began[1]))
    return seconds


def show(model: str, measured: dict[str, list[tuple[float, float]]]) -> None:
    """The least CPU seconds with their ratio to the first variant, then the median of the rounds' ratios."""
    base = next(iter(measured.values()))
    for variant, seconds in measured.items():
        least = [min(row[0] for row in rows) for rows in (seconds, base)]
        of_rounds = [
            statistics.median(row[clock] / plain[clock] for row, plain in zip(seconds, base, strict=True))
            for clock in (0, 1)
        ]
        cells = [f"{least[0]:.3f}", f"{least[0] / least[1]:.2f}", *(f"{ratio:.2f}" for ratio in of_rounds)]
        print(f"| {model} | {variant} | {' | '.join(cells)} |", flush=True)


def two_processes(rank: int, port: int, name: str, rounds: int) -> None:
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    who, member = join("cpu"), MEMBERS[name]
    rows = sentences(member, 2 * ROWS)
    base = TrainSettings(z0=1.0, batch_size=2 * ROWS, n_micro=2, sampling="shuffle", delta=1e-3)
    plain = nn.parallel.DistributedDataParallel(plain_network(member))
    steps = {
        "plain DDP": plain_step(plain, collate(rows[rank * ROWS : (rank + 1) * ROWS])),
        "sound": private_step(member, rows, base, who),
        "per_example": private_step(member, rows, replace(base, mode="per_example"), who),
    }
    measured = measure(steps, rounds)
    if rank == 0:
        show(name, measured)
    who.leave()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=list(MEMBERS), default=list(MEMBERS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-opacus", action="store_true", help="leave Opacus out (it needs seconds a step)")
    parser.add_argument("--no-processes", action="store_true", help="leave the two processes out")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(HEADER.format("variant"))
    for name in args.models:
        show(name, measure(variants(name, not args.no_opacus), args.rounds))
    if args.no_processes:
        return
    print("\n" + HEADER.format("2 processes"))
    for name in args.models:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        torch.multiprocessing.spawn(two_processes, (port, name, args.rounds), nprocs=2)


if __name__ == "__main__":
    main()
