"""The shape of a language technology service inside the European Language Grid: one `/process` for texts and for audio.

A text request gives annotations, or with `params.strategy` the new text; an audio request (multipart, `request` and `content`)
gives audio. Failures have ELG's codes.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, ValidationError

from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.speech.audio import to_wav
from sottovoce.models.text.replace import TABLE as STRATEGIES
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.questions import Questions
from sottovoce.pipelines.service.text_work import plain

PATHS = "/process"
INVALID, TYPE, LARGE = "elg.request.invalid", "elg.request.type.unsupported", "elg.request.too.large"
FORMATS = {"LINEAR16": "audio/x-wav", "MP3": "audio/mpeg"}


def error_body(problem: problems.Problem) -> dict[str, Any]:
    """ELG's form of a failure; a status or code that ELG has no word for becomes its nearest one."""
    code = problem.code if problem.code.startswith("elg.") else LARGE if problem.status == 413 else INVALID
    if problem.status >= 500:
        code = "elg.service.internalError"
    detail = {"allowed": problem.allowed, "code": problem.code}
    return {"failure": {"errors": [{"code": code, "params": [], "text": problem.allowed, "detail": detail}]}}


class ElgRequest(BaseModel):
    """What both kinds of request have. Unknown fields are ignored; unknown `params` are refused."""

    model_config = ConfigDict(extra="ignore")
    type: str
    params: dict[str, Any] | None = None


class TextAsked(ElgRequest):
    """The body of a text request. `params`: `language`, and `strategy` if the text is to be replaced, not annotated."""

    type: Literal["text"]
    content: str
    mimeType: str = "text/plain"


class AudioAsked(ElgRequest):
    """The part `request` of a multipart body, whose part `content` is the sound; `params`: `text`, what is said."""

    type: Literal["audio"]
    format: Literal["LINEAR16", "MP3"] = "LINEAR16"


def router(questions: Questions) -> APIRouter:
    """One route, which tells texts from audio by the content type of the request."""
    routes = APIRouter()

    @routes.post("/process", responses=ANSWERS, openapi_extra=BODY)
    async def process(request: Request) -> dict[str, Any]:
        """ELG: annotations or the new text of a text; audio without its sensitive words, in another voice, of audio."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":
            return await _text(questions, request, _parsed(TextAsked, await request.body()))
        if kind == "multipart/form-data":
            form = await questions.form(request)
            content, asked = form.get("content"), form.get("request")
            if not isinstance(content, bytes) or asked is None:
                raise problems.invalid(INVALID, "the parts request (application/json) and content (audio/x-wav)")
            questions.check_length(asked)
            return await _audio(questions, request, _parsed(AudioAsked, asked), content)
        raise problems.invalid(INVALID, "application/json or multipart/form-data")

    return routes


def _parsed(shape: type[Any], body: str | bytes) -> Any:
    try:
        values = json.loads(body)
        known = isinstance(values, dict) and isinstance(values.get("type"), str)
        if known and values["type"] not in ("text", "audio"):
            raise problems.invalid(TYPE, "requests of type text or audio")
        return shape.model_validate(values)
    except ValidationError as error:
        told = problems.of_validation([dict(row) for row in error.errors(include_url=False)])
        raise problems.invalid(INVALID, told.allowed) from None
    except (ValueError, RecursionError):
        raise problems.invalid(INVALID, "a body of JSON") from None


async def _text(questions: Questions, request: Request, asked: TextAsked) -> dict[str, Any]:
    params = dict(asked.params or {})
    name, language = params.pop("strategy", None), params.pop("language", None)
    if params or (name is not None and name not in STRATEGIES) or not isinstance(language, str | None):
        raise problems.invalid(
            "elg.request.parameter.invalid", f"params: language; strategy, one of {', '.join(STRATEGIES)}"
        )
    if not asked.mimeType.startswith("text/plain"):
        raise problems.invalid("elg.request.text.mimeType.unsupported", "text/plain")
    own = questions.settings.specs["replace"]
    spec: Spec | None = None if name is None else own if name == own.name else read_spec("replace", name)
    answer = await questions.text(request, asked.content, spec, language)
    if spec is not None:
        costs = {"epsilon": plain(sum(answer.epsilons))}
        return {"response": {"type": "texts", "texts": [{"content": answer.text, "features": costs}]}}
    annotations: dict[str, list[dict[str, Any]]] = {}
    for span in answer.spans:
        row = {"start": span.begin, "end": span.end, "features": {"score": span.score}}
        annotations.setdefault(span.type, []).append(row)
    return {"response": {"type": "annotations", "annotations": annotations}}


async def _audio(questions: Questions, request: Request, asked: AudioAsked, content: bytes) -> dict[str, Any]:
    params = dict(asked.params or {})
    text = params.pop("text", "")
    if params or not isinstance(text, str):
        raise problems.invalid("elg.request.parameter.invalid", "params: text, what is said")
    answer = await questions.speech(request, content, text)
    words = [
        {"start": round(word.begin_s, 3), "end": round(word.end_s, 3)}
        for index, word in enumerate(answer.words)
        if index in answer.masked
    ]
    return {
        "response": {
            "type": "audio",
            "content": await asyncio.to_thread(lambda: base64.b64encode(to_wav(answer.speech)).decode()),
            "format": "LINEAR16",
            "features": {"text": answer.text, "sampleRate": answer.speech.rate_hz},
            "annotations": {"masked": words},
        }
    }


class Failed(BaseModel):
    """The Grid's body of an error, for /openapi.json; `error_body` makes it."""

    failure: dict[str, Any]


ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"model": Failed, "description": "ELG's failure message"} for status in (400, 401, 413, 421, 422, 429, 501)
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": TextAsked.model_json_schema()},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["request", "content"],
                    "properties": {
                        "request": {"type": "string", "description": '{"type": "audio", "format": "LINEAR16"}'},
                        "content": {"type": "string", "format": "binary"},
                    },
                }
            },
        },
    }
}
