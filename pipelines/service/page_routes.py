"""The page at `/`: plain files without a build step, nothing from elsewhere; it asks the routes that any caller has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import resources

from fastapi import APIRouter
from fastapi.responses import Response

from sottovoce.pipelines.service.error_shape import error_body
from sottovoce.pipelines.service.questions import Questions

__all__ = ["PATHS", "error_body", "router"]
PATHS = "/page/"
KINDS = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def router(questions: Questions) -> APIRouter:
    """A route for each file of the page, read once, at the start; `questions` is not used, the page asks the other routes."""
    routes = APIRouter(include_in_schema=False)
    folder = resources.files("sottovoce.pipelines.service").joinpath("page")
    for file in folder.iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in KINDS:
            path = "/" if file.name == "index.html" else f"/page/{file.name}"
            routes.add_api_route(path, _giving(file.read_bytes(), KINDS[suffix]))
    return routes


def _giving(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
    async def give() -> Response:
        return Response(content, media_type=kind)

    return give
