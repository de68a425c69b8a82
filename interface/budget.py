"""What privacy will cost, before there is a corpus: the figures of `sottovoce budget`, as numbers."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Literal


def rr(
    *,
    p: float | None = None,
    target_epsilon: float | None = None,
    pi_min: float | None = None,
    zipf: int | None = None,
    distribution: str | None = None,
    units: int = 1,
    delta: float = 1e-5,
    epsilon: float | None = None,
    recall: float = 1.0,
    grid: float = 1e-3,
) -> dict[str, float | None]:
    """Replacing sensitive words by randomised response; `sottovoce budget rr --help` says what each name means.

    >>> figures = rr(target_epsilon=4, pi_min=0.001)
    >>> round(figures["p_needed"], 4)
    0.9491
    """
    given: dict[str, Any] = dict(locals())
    from sottovoce.models.errors import SettingsError
    from sottovoce.pipelines.commands import budget_rr

    if sum(given[name] is not None for name in ("pi_min", "zipf", "distribution")) != 1:
        raise SettingsError(["give one of pi_min, zipf and distribution"])
    return budget_rr.plan(Namespace(**given))


def edp(
    *,
    epochs: int,
    n: int,
    batch_size: int,
    delta: float,
    z0: float | None = None,
    target_epsilon: float | None = None,
    decay: Literal["none", "linear", "exp"] = "none",
    tau: float = 0.0,
    n_micro: int = 8,
    microbatch_size: int | None = None,
    alpha_max: float = 1.0,
    sampling: Literal["shuffle", "poisson"] = "poisson",
    noise: Literal["paper_independent", "paper_shared", "sound"] = "sound",
    accountant: Literal["paper_zcdp", "gdp", "pld"] | None = None,
    adjacency: Literal["replace_one", "add_remove", "zero_out"] | None = None,
) -> dict[str, Any]:
    """Private training; `sottovoce budget edp --help` says what each name means.

    >>> figures = edp(z0=1, epochs=10, n=4480, batch_size=64, delta=5e-4, sampling="shuffle")
    >>> figures["sound"], round(figures["epsilon"], 2)
    (True, 14.72)
    """
    given: dict[str, Any] = dict(locals())
    from sottovoce.pipelines.commands import budget_edp

    found, report = budget_edp.spent(Namespace(**given))
    return {"z0": found, **report.as_json()}


def adept(*, clip: float, dimension: int, epsilon: float, delta: float = 1e-5) -> dict[str, float | bool]:
    """Noise on a latent vector; `sottovoce budget adept --help` says what each name means.

    >>> adept(clip=1, dimension=1024, epsilon=1)["epsilon_actual_of_paper_laplace"]
    32.0
    """
    from sottovoce.pipelines.commands import budget_adept

    return budget_adept.figures_of(Namespace(clip=clip, dimension=dimension, epsilon=epsilon, delta=delta))
