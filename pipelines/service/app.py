"""The application: models are loaded once in the process, then requests of every shape meet in the same two queues."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from sottovoce.models.errors import SottovoceError
from sottovoce.pipelines.service import measures, problems
from sottovoce.pipelines.service.batches import Asked, Batches, each
from sottovoce.pipelines.service.draws import HEADER
from sottovoce.pipelines.service.gate import Admission, BodyTooLarge
from sottovoce.pipelines.service.questions import TEXTS_AT_ONCE, Questions
from sottovoce.pipelines.service.service_settings import ServiceSettings
from sottovoce.pipelines.service.speech_work import SpeechWork
from sottovoce.pipelines.service.text_work import TextWork

# One row adds a shape: a module with `router(questions) -> APIRouter`, `PATHS` and `error_body(problem)`.
SHAPES = {
    "v1": "sottovoce.pipelines.service.v1",
    "comprise": "sottovoce.pipelines.service.comprise",
    "presidio": "sottovoce.pipelines.service.presidio",
    "elg": "sottovoce.pipelines.service.elg",
    "page": "sottovoce.pipelines.service.page_routes",
}
BUDGETS_WAITING = 16


def make_app(settings: ServiceSettings) -> Admission | CORSMiddleware:
    """The service as an ASGI application, all shapes behind one gate; models are loaded when it starts up."""
    texts, speech = TextWork(settings.specs["detect"], settings.language), SpeechWork(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        limits = settings.limits
        queues = {
            "text": Batches("text", texts, limits.waiting_texts, TEXTS_AT_ONCE, measures.batch_taken),
            "budget": Batches("budget", _called, BUDGETS_WAITING, 1, measures.batch_taken),
        }
        await asyncio.to_thread(texts.setup)
        if not settings.text_only:
            queues["speech"] = Batches("speech", speech, limits.waiting_speech, 1, measures.batch_taken)
            await asyncio.to_thread(speech.setup)
        for queue in queues.values():
            queue.start()
        questions.queues = queues
        yield
        await asyncio.gather(*(queue.stop() for queue in queues.values()))

    app = FastAPI(
        title="Sottovoce",
        description="Finds and replaces what is sensitive in texts, and gives speech another voice without it.",
        version="1",
        lifespan=lifespan,
        docs_url=None,  # their pages load code from elsewhere
        redoc_url=None,
    )
    questions = Questions(settings)
    shapes = {name: importlib.import_module(module) for name, module in SHAPES.items()}
    for name, shape in shapes.items():
        app.include_router(shape.router(questions), tags=[name])
    _add_general(app, questions)

    def error_body(path: str, problem: problems.Problem) -> Any:
        shape = next((shape for shape in shapes.values() if path.startswith(shape.PATHS)), shapes["v1"])
        return shape.error_body(problem)

    _add_errors(app, settings, error_body)
    gate = Admission(app, settings, error_body)
    if not settings.origins:
        return gate
    # Around the gate: a browser asks without a token whether it may ask, and a page reads what the gate refuses, too.
    return CORSMiddleware(
        gate, allow_origins=settings.origins, allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", HEADER], expose_headers=["X-Request-Id", "Retry-After"],
    )  # fmt: skip


def _called(batch: Sequence[Asked]) -> list[Any]:
    """For work that is a function of its own."""
    return each(batch, lambda asked: asked.item())


def _add_general(app: FastAPI, questions: Questions) -> None:
    @app.get("/health", response_class=PlainTextResponse, tags=["service"])
    async def health() -> str:
        """Answers as soon as every model is loaded."""
        return "Sottovoce is up"

    @app.get("/metrics", response_class=PlainTextResponse, tags=["service"])
    async def metrics() -> PlainTextResponse:
        """For Prometheus."""
        for name, queue in questions.queues.items():
            measures.WAITING.labels(name).set(queue.waiting)
        return PlainTextResponse(measures.exposition(), media_type="text/plain; version=0.0.4")


def _add_errors(app: FastAPI, settings: ServiceSettings, error_body: Any) -> None:
    def told(request: Request, problem: problems.Problem) -> JSONResponse:
        return JSONResponse(error_body(request.url.path, problem), problem.status, problem.headers)

    @app.exception_handler(problems.Problem)
    async def problem_met(request: Request, problem: problems.Problem) -> JSONResponse:
        return told(request, problem)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return told(request, problems.of_validation(error.errors()))

    @app.exception_handler(SottovoceError)
    async def refused(request: Request, error: SottovoceError) -> JSONResponse:
        return told(request, problems.of_error(error, settings.audio.max_seconds))

    @app.exception_handler(HTTPException)
    async def general(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error, BodyTooLarge):
            return told(request, error.problem)
        codes = {404: "not_found", 405: "method_not_allowed", 400: "unreadable_body"}
        code = codes.get(error.status_code, "refused")
        return told(request, problems.Problem(error.status_code, code, "see /openapi.json", dict(error.headers or {})))
