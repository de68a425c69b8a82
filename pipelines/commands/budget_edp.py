"""What private training will cost, before it starts: the published claim beside the figures that hold."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sottovoce.models.errors import SettingsError

if TYPE_CHECKING:  # --help must not wait for it
    from sottovoce.models.training.privacy.accounting import EpsilonReport
    from sottovoce.models.training.privacy.soundness import Accountant, Adjacency, Noise, PrivacyTerms

EXAMPLES = """\
  sottovoce budget edp --z0 1 --decay linear --tau 0.1 --epochs 10 --n 4480 --batch-size 64 --n-micro 8 \\
      --microbatch-size 8 --delta 5e-4 --sampling shuffle --noise sound --accountant gdp
  sottovoce budget edp --target-epsilon 2 --epochs 10 --n 13084 --batch-size 128 --delta 1e-5 --json"""

ACCOUNTANT: dict[str, Accountant] = {"shuffle": "gdp", "poisson": "pld"}
ADJACENCY: dict[str, Adjacency] = {"shuffle": "replace_one", "poisson": "add_remove"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--z0", type=float, help="noise multiplier of the first epoch; or give --target-epsilon")
    parser.add_argument("--target-epsilon", type=float, help="epsilon wanted; the z0 it needs is found")
    parser.add_argument(
        "--decay", choices=("none", "linear", "exp"), default="none", help="of the noise by epoch (none)"
    )
    parser.add_argument("--tau", type=float, default=0.0, help="speed of the decay (0)")
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--n", type=int, required=True, help="training examples (or speakers)")
    parser.add_argument("--batch-size", type=int, required=True, help="examples per step, on average with poisson")
    parser.add_argument("--n-micro", type=int, default=8, help="micro-batches per step (8)")
    parser.add_argument("--microbatch-size", type=int, help="examples per micro-batch (batch size / n-micro)")
    parser.add_argument("--alpha-max", type=float, default=1.0, help="largest layer scaling, for the paper's noise (1)")
    parser.add_argument("--delta", type=float, required=True)
    parser.add_argument("--sampling", choices=("shuffle", "poisson"), default="poisson", help="(poisson)")
    parser.add_argument(
        "--noise", choices=("paper_independent", "paper_shared", "sound"), default="sound", help="(sound)"
    )
    parser.add_argument("--accountant", choices=("paper_zcdp", "gdp", "pld"), help="(gdp for shuffle, pld for poisson)")
    parser.add_argument(
        "--adjacency",
        choices=("replace_one", "add_remove", "zero_out"),
        help="which data sets count as neighbours (replace_one for shuffle, add_remove for poisson)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    z0, report = spent(args)
    if args.json:
        print(json.dumps({"z0": z0, **report.as_json()}))
        return 0
    print(f"{'epsilon':<12} {report.epsilon:.6g} at delta {args.delta:g}")
    print(f"{'sound':<12} {'yes' if report.sound else 'no: ' + report.assumptions[-1]}")
    print(f"{'z0':<12} {z0:.6g}")
    print(f"{'z_eff':<12} {', '.join(f'{z:.4g}' for z in report.z_eff)}")
    for name in ("rho", "mu"):
        if getattr(report, name) is not None:
            print(f"{name:<12} {getattr(report, name):.6g}")
    print("assuming")
    for line in report.assumptions:
        print(f"  {line}")
    print("the same run, counted in other ways")
    for words, epsilon in side_by_side(z0, _terms(args)).items():
        print(f"  {words:<58} {epsilon:.6g}")
    return 0


def spent(args: argparse.Namespace) -> tuple[float, EpsilonReport]:
    """(z0, what it gives)"""
    from sottovoce.models.training.privacy.accounting import edp_epsilon, find_z0

    if (args.z0 is None) == (args.target_epsilon is None):
        raise SettingsError(["--z0: give either --z0 or --target-epsilon"])
    terms = _terms(args)
    z0 = args.z0 if args.z0 is not None else find_z0(terms, args.target_epsilon)
    return z0, edp_epsilon(terms, z0)


def side_by_side(z0: float, terms: PrivacyTerms) -> dict[str, float]:
    """The published claim, what the published noise gives, and what sound noise gives, for shuffled epochs."""
    from sottovoce.models.training.privacy.accounting import edp_epsilon

    shuffled: dict[str, Any] = {
        "sampling": "shuffle",
        "adjacency": "zero_out" if terms.adjacency == "add_remove" else terms.adjacency,
    }
    ways: dict[str, tuple[Noise, Accountant]] = {
        "published formula (a claim)": ("paper_independent", "paper_zcdp"),
        "published noise, sound figure, shuffled": ("paper_independent", "gdp"),
        "published noise, one draw shared by all, shuffled": ("paper_shared", "gdp"),
        "sound noise, shuffled": ("sound", "gdp"),
    }
    return {
        words: edp_epsilon(replace(terms, **shuffled, noise=noise, accountant=accountant), z0).epsilon
        for words, (noise, accountant) in ways.items()
    }


def _terms(args: argparse.Namespace) -> PrivacyTerms:
    from sottovoce.models.training.privacy.soundness import PrivacyTerms

    return PrivacyTerms(
        epochs=args.epochs,
        n=args.n,
        batch_size=args.batch_size,
        n_micro=args.n_micro,
        microbatch_size=args.microbatch_size or math.ceil(args.batch_size / max(args.n_micro, 1)),
        delta=args.delta,
        adjacency=args.adjacency or ADJACENCY[args.sampling],
        sampling=args.sampling,
        noise=args.noise,
        accountant=args.accountant or ACCOUNTANT[args.sampling],
        decay=args.decay,
        tau=args.tau,
        alpha_max=args.alpha_max,
    )
