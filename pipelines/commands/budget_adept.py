"""What noise on a latent vector (ADePT) gives, before there is an auto-encoder: the paper's claim beside what holds."""

from __future__ import annotations

import argparse
import json
import math

from sottovoce.models.errors import SettingsError

EXAMPLES = """\
  sottovoce budget adept --clip 1 --dimension 1024 --epsilon 1 --delta 1e-5
  sottovoce budget adept --clip 5 --dimension 32 --epsilon 8 --delta 1e-5 --json"""

WORDS = {
    "laplace_scale_paper": "Laplace scale of the paper",
    "epsilon_actual_of_paper_laplace": "pure epsilon that this scale gives",
    "delta_of_paper_laplace_at_claimed_epsilon": "its delta at the claimed epsilon, at least",
    "epsilon_of_paper_laplace_at_delta": "its epsilon at --delta, at least",
    "laplace_scale_sound": "Laplace scale that gives --epsilon",
    "laplace_rms_noise_sound": "length of that noise",
    "gauss_sigma_analytic": "Gaussian sigma that gives --epsilon, --delta",
    "gauss_rms_noise": "length of that noise",
    "gauss_sigma_classic": "Gaussian sigma of the usual formula",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clip", type=float, required=True, metavar="C", help="radius that latent vectors are clipped to"
    )
    parser.add_argument("--dimension", type=int, required=True, metavar="D", help="length of the latent vector")
    parser.add_argument("--epsilon", type=float, required=True, metavar="E", help="wanted for one utterance")
    parser.add_argument("--delta", type=float, default=1e-5, help="chance that epsilon may fail (1e-5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every key")


def run(args: argparse.Namespace) -> int:
    figures = figures_of(args)
    if args.json:
        # `eps` as well as `epsilon`: published tables of these columns spell it so
        print(json.dumps(figures | {key.replace("epsilon", "eps"): value for key, value in figures.items()}))
        return 0
    for key, text in WORDS.items():
        print(f"{text:<46} {figures[key]:.6g}")
    if not figures["classic_valid"]:
        print("the usual formula is proved for epsilon below 1 alone")
    return 0


def figures_of(args: argparse.Namespace) -> dict[str, float | bool]:
    """All figures under their JSON names, from `clip`, `dimension`, `epsilon`, `delta`; SettingsError names each out of range."""
    from sottovoce.models.text.rewrite.latent_noise import LatentNoise

    _check(args)
    return LatentNoise(args.clip, args.dimension, args.epsilon, args.delta).figures()


def _check(args: argparse.Namespace) -> None:
    rules = (
        ("clip", 0 < args.clip < math.inf, "above 0"),
        ("dimension", 1 <= args.dimension <= 100_000, "from 1 to 100000"),
        ("epsilon", 0 < args.epsilon <= 100, "above 0 and at most 100"),
        ("delta", 0 < args.delta < 1, "between 0 and 1"),
    )
    problems = [
        f"--{name}: {getattr(args, name)} is out of range; allowed: {allowed}"
        for name, holds, allowed in rules
        if not holds
    ]
    if problems:
        raise SettingsError(problems)
