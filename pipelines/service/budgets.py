"""The budget calculators as routes: what `sottovoce budget rr` and `budget edp` print."""

from __future__ import annotations

import argparse
import math
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from sottovoce.models.training.privacy.accounting import decayed
from sottovoce.pipelines.commands import budget_edp, budget_rr
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.error_shape import ERRORS, Closed
from sottovoce.pipelines.service.questions import Questions
from sottovoce.pipelines.service.text_work import plain

# An accountant's grid grows with the largest loss: what a caller may ask for is bounded, so that none takes all memory.
LEAST_Z, MOST_STEPS, MOST_KINDS = 0.3, 10**6, 50


class Rr(Closed):
    """Body of /v1/budget/rr: `p` or the epsilon wanted for one unit, and the replacement list as `pi_min` or `zipf`."""

    p: float | None = Field(None, gt=0, le=1)
    target_epsilon: float | None = Field(None, gt=0, le=100)
    pi_min: float | None = Field(None, gt=0, le=0.5)
    zipf: int | None = Field(None, ge=2, le=100_000)
    units: int = Field(1, ge=1, le=2000)
    delta: float = Field(1e-5, gt=0, lt=1)
    epsilon: float | None = Field(None, ge=0, le=1e6)
    recall: float = Field(1.0, gt=0, le=1)


class Edp(Closed):
    """Body of /v1/budget/edp: a private training, by its noise `z0` or by the epsilon that is wanted, one of them."""

    z0: float | None = Field(None, ge=LEAST_Z, le=1e4)
    target_epsilon: float | None = Field(None, ge=0.05, le=30)
    decay: Literal["none", "linear", "exp"] = "none"
    tau: float = Field(0.0, ge=0, le=1)
    epochs: int = Field(ge=1, le=200)
    n: int = Field(ge=1, le=10**9)
    batch_size: int = Field(ge=1, le=10**9)
    n_micro: int = Field(8, ge=1, le=10**4)
    microbatch_size: int | None = Field(None, ge=1, le=10**6)
    alpha_max: float = Field(1.0, gt=0, le=1e3)
    delta: float = Field(gt=0, lt=1)
    sampling: Literal["shuffle", "poisson"] = "poisson"
    noise: Literal["paper_independent", "paper_shared", "sound"] = "sound"
    accountant: Literal["paper_zcdp", "gdp", "pld"] | None = None
    adjacency: Literal["replace_one", "add_remove", "zero_out"] | None = None


def add_budgets(routes: APIRouter, questions: Questions) -> None:
    """Adds `/v1/budget/rr` and `/v1/budget/edp`."""

    @routes.post("/v1/budget/rr", responses=ERRORS)
    async def rr(request: Request, asked: Rr) -> dict[str, float | str | None]:
        """What randomised response costs: as `sottovoce budget rr --json`."""
        if (asked.pi_min is None) == (asked.zipf is None):
            raise problems.invalid("list", "pi_min or zipf, one of them")
        args = argparse.Namespace(**asked.model_dump(), distribution=None, grid=1e-3)
        found = await questions.compute(request, lambda: budget_rr.plan(args))
        return {key: None if value is None else plain(value) for key, value in found.items()}

    @routes.post("/v1/budget/edp", responses=ERRORS)
    async def edp(request: Request, asked: Edp) -> dict[str, Any]:
        """What private training costs: as `sottovoce budget edp --json`."""
        _check(asked)
        args = argparse.Namespace(**asked.model_dump())
        z0, report = await questions.compute(request, lambda: budget_edp.spent(args))
        return {"z0": z0, **report.as_json()}


def _check(asked: Edp) -> None:
    if asked.n // asked.batch_size * asked.epochs > MOST_STEPS:
        raise problems.invalid("steps", f"at most {MOST_STEPS} steps: n / batch_size * epochs")
    if asked.sampling == "poisson" and asked.decay != "none" and asked.epochs > MOST_KINDS:
        raise problems.invalid("epochs", f"with a decay and poisson at most {MOST_KINDS}")
    shrink = 1.0 if asked.noise == "sound" else 2 * asked.alpha_max * math.sqrt(asked.n_micro)
    last = decayed(asked.z0 or 1.0, asked.decay, asked.tau, asked.epochs - 1) / shrink
    if last < LEAST_Z:
        raise problems.invalid("noise", f"noise of which at least {LEAST_Z} is left in the last epoch")
