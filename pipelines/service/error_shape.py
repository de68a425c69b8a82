"""How our own routes tell a problem, and what their requests have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from sottovoce.pipelines.service import problems


def error_body(problem: problems.Problem) -> dict[str, Any]:
    """The JSON of a problem on our own routes, as `ErrorBody` describes it."""
    return {"error": {"code": problem.code, "allowed": problem.allowed}}


class Closed(BaseModel):
    """A key that is not known is an error: a misspelt option would be left out in silence."""

    model_config = ConfigDict(extra="forbid")


class Told(BaseModel):
    """A problem by its fixed code, and what is allowed instead."""

    code: str
    allowed: str


class ErrorBody(BaseModel):
    """The body of an error on all routes but Presidio's and the European Language Grid's, which have their own."""

    error: Told


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        400: "The body cannot be read",
        401: "No token, or not one of ours",
        413: "More than a limit allows",
        421: "Asked for by another name than localhost",
        422: "Not valid, or refused: why, and what is allowed",
        429: "Too many are waiting; Retry-After says when to come again",
        501: "Not part of this service",
    }.items()
}
