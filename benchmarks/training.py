"""What privacy costs in time: seconds per step as ratios to plain Adam, measured in turn in one run.

    OMP_NUM_THREADS=1 python benchmarks/training.py [--models clc bert lstm turns "conv, layer" ...] [--rounds 9] [--rows 32]
                                                    [--no-opacus] [--no-processes] [--compiled]

Models at their own size (`training_cases.py`): sentences of 16 words with SNIPS' schema, lines of 16 words of 8000, dialogues of
8 turns, slices of 2 s; `--rows` of them a step. All variants put their rows together, use the same fused Adam and include their
noise. The first row of each table is what one would write without privacy: with torch's own nn.LSTM, in two processes with
DistributedDataParallel.
Variants take turns step by step, so that a busy moment hits all alike: the ratio of the least CPU seconds is what an idle machine
would show, the median over the rounds of each round's own ratio is what this one did. CPU seconds are those of one process, with
all its threads. sound plays 8 devices one after the other in the first table; in the second each of 2 processes over gloo is one
device with as many rows. --compiled adds plain and sound steps under torch.compile, which takes a C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn
from training_cases import CASES, Case, TorchLstm

from sottovoce.models.randomness import Secret
from sottovoce.models.training.loop.processes import Processes, join, keep_memory
from sottovoce.models.training.privacy.edp import Workbench, gradient_of_step
from sottovoce.models.training.privacy.flat import FlatGradients
from sottovoce.models.training.privacy.noise import NoiseSource
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.train_settings import TrainSettings

HEADER = "| model | {} | least CPU s | ratio | ratio by round, CPU | ratio by round, clock |\n|---|---|---|---|---|---|"


def plain_step(network: nn.Module, case: Case, rows: list[object]) -> Callable[[int], None]:
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, fused=True)

    def step(number: int) -> None:
        batch = case.task.collate(rows)
        optimizer.zero_grad()
        (network(batch) * batch.weights).sum().backward()
        optimizer.step()

    return step


def private_step(
    case: Case, rows: list[object], settings: TrainSettings, who: Processes, compiled: bool = False
) -> Callable[[int], None]:
    torch.manual_seed(0)
    network, key = case.network(), Secret(b"the key of the benchmark")
    plan, flat = make_plan(settings, len(rows), who.count), FlatGradients(network)
    parts = settings.n_micro if settings.mode in ("paper", "sound") else 1
    bench = Workbench(
        network=torch.compile(network) if compiled else network,  # type: ignore[arg-type]
        task=case.task,
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


def variants(case: Case, count: int, with_opacus: bool, compiled: bool) -> dict[str, Callable[[int], None]]:
    alone, rows = Processes(0, 1, torch.device("cpu")), case.rows(count)
    base = TrainSettings(z0=1.0, batch_size=count, n_micro=8, sampling="shuffle", delta=1e-3)
    steps = {"plain": plain_step(case.with_lstms_of(TorchLstm), case, rows)}
    if not case.member.mixes_rows:
        steps["sound, 8 micro-batches"] = private_step(case, rows, base, alone)
        steps["sound, 8 at once"] = private_step(case, rows, replace(base, micro_at_once=True), alone)
    steps["per_example"] = private_step(case, rows, replace(base, mode="per_example"), alone)
    if compiled:
        steps["plain, compiled"] = plain_step(torch.compile(case.network()), case, rows)  # type: ignore[arg-type]
        steps["sound, compiled"] = private_step(case, rows, base, alone, compiled=True)
    if with_opacus and not case.member.mixes_rows:
        from training_opacus import opacus_step

        steps["Opacus per-sample"] = opacus_step(case, rows, ghost=False)
        steps["Opacus ghost"] = opacus_step(case, rows, ghost=True)
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


def two_processes(rank: int, port: int, name: str, count: int, rounds: int) -> None:
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    who, case = join("cpu"), CASES[name]
    rows = case.rows(2 * count)
    base = TrainSettings(z0=1.0, batch_size=2 * count, n_micro=2, sampling="shuffle", delta=1e-3)
    plain = nn.parallel.DistributedDataParallel(case.with_lstms_of(TorchLstm))
    steps = {
        "plain DDP": plain_step(plain, case, rows[rank * count : (rank + 1) * count]),
        "sound": private_step(case, rows, base, who),
        "per_example": private_step(case, rows, replace(base, mode="per_example"), who),
    }
    measured = measure(steps, rounds)
    if rank == 0:
        show(name, measured)
    who.leave()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=32, help="of a step, of each process (32)")
    parser.add_argument("--no-opacus", action="store_true", help="leave Opacus out (it needs seconds a step)")
    parser.add_argument("--no-processes", action="store_true", help="leave the two processes out")
    parser.add_argument("--compiled", action="store_true", help="steps under torch.compile as well")
    args = parser.parse_args()
    torch.set_num_threads(1)
    keep_memory()  # as every training does; plain steps gain by it as well
    print(HEADER.format("variant"))
    for name in args.models:
        show(name, measure(variants(CASES[name], args.rows, not args.no_opacus, args.compiled), args.rounds))
    if args.no_processes:
        return
    print("\n" + HEADER.format("2 processes"))
    for name in args.models:
        if CASES[name].member.mixes_rows:
            continue
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        torch.multiprocessing.spawn(two_processes, (port, name, args.rows, args.rounds), nprocs=2)


if __name__ == "__main__":
    main()
