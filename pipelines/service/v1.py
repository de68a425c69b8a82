"""Our own shape: /v1/detect, /v1/replace, /v1/anonymise, /v1/mask, /v1/budget/rr and /v1/budget/edp."""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from sottovoce.models.settings import Spec, read_spec
from sottovoce.models.speech.audio import to_wav
from sottovoce.models.text.languages import TABLE as LANGUAGES
from sottovoce.models.text.replace import TABLE as STRATEGIES
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.budgets import add_budgets
from sottovoce.pipelines.service.error_shape import ERRORS, Closed, error_body
from sottovoce.pipelines.service.questions import Questions
from sottovoce.pipelines.service.speech_work import SpeechAnswer, known_types, words_of
from sottovoce.pipelines.service.text_work import entity, plain

__all__ = ["PATHS", "error_body", "router"]
PATHS = "/v1/"
WAV = "audio/wav"


Text = Annotated[
    str, Field(description="The text, as it was said or written.", examples=["call anna in berlin at five"])
]


Language = Annotated[
    str | None,
    Field(max_length=64, description="Of the text; left out, what it reads like.", examples=sorted(LANGUAGES)),
]


class Detect(Closed):
    """Body of /v1/detect: a text, and its language where the caller knows it."""

    text: Text
    language: Language = None


class Entity(BaseModel):
    """A sensitive stretch of the text, by offsets in characters, and who found it."""

    begin: int
    end: int
    type: str
    score: float
    detector: str


class Detected(BaseModel):
    """What /v1/detect answers; `not_protected` says what its detector may miss."""

    entities: list[Entity]
    language: str
    not_protected: list[str]


class Replace(Closed):
    """Body of /v1/replace. Options left out are the service's own, or defaults where another strategy is named."""

    text: Text
    language: Language = None
    strategy: Literal[tuple(STRATEGIES)] | None = Field(None, description="The service's own, unless named.")  # type: ignore[valid-type]
    p: float | None = Field(None, ge=0, le=1, description="Probability that a unit is replaced.")
    target_epsilon: float | None = Field(None, gt=0, le=50, description="Of one unit; p follows from it.")
    keep_gender: bool | None = None
    marker: str | None = Field(None, min_length=1, max_length=64, description="Of `redact`.")


class Replaced(BaseModel):
    """What /v1/replace answers: the new text and the epsilon of what was found; `not_protected` is left open."""

    text: str
    language: str
    entities: list[Entity]
    replaced: list[tuple[int, int]] = Field(description="Where replacements stand in the new text.")
    epsilon: float | str = Field(
        description="Of all units together; 'inf' where one may stay in the clear for certain."
    )
    epsilon_unit: float | str = Field(description="The largest of one unit.")
    units: int = Field(description="Those that may stay as they were: at p = 1 none.")
    not_protected: list[str]


class Said(BaseModel):
    """A word and its times, now and in the recording that was sent."""

    text: str | None = Field(description="null: masked")
    masked: bool
    begin_s: float
    end_s: float
    was_begin_s: float | None = None
    was_end_s: float | None = None


class ReleasedSlice(BaseModel):
    """A stretch of the new speech as a run would cut and release it, with its text."""

    text: str
    duration_s: float
    audio: str = Field(description="WAV, base64")


class Protected(BaseModel):
    """What /v1/anonymise and /v1/mask answer, or the WAV alone for who accepts audio. /v1/mask gives no slices."""

    audio: str = Field(description="WAV, base64")
    rate_hz: int
    duration_s: float
    text: str
    words: list[Said]
    entities: list[Entity] = Field(description="In the transcript.")
    transcript: str = Field(description="As it was sent, or as the recogniser wrote it down: sensitive.")
    slices: list[ReleasedSlice] = Field(description="As a run would release them, in order of time.")
    not_protected: list[str]


def router(questions: Questions) -> APIRouter:
    """All routes below /v1/; with --text-only those for speech are missing."""
    routes = APIRouter()
    detector = questions.settings.specs["detect"]
    detects = detector.make().ledger()
    left_open = {name: list(Spec("replace", name).make().ledger(detects).not_protected) for name in STRATEGIES}

    @routes.post("/v1/detect", responses=ERRORS)
    async def detect(request: Request, asked: Detect) -> Detected:
        """What is sensitive in a text."""
        found = await questions.text(request, asked.text, language=asked.language)
        return Detected(
            entities=[Entity(**entity(span)) for span in found.spans],
            language=found.language,
            not_protected=list(detects.not_protected),
        )

    @routes.post("/v1/replace", responses=ERRORS)
    async def replace(request: Request, asked: Replace) -> Replaced:
        """The text with its sensitive words replaced, and what that costs."""
        chosen = replace_spec(questions.settings.specs["replace"], asked)
        made = await questions.text(request, asked.text, chosen, asked.language)
        return Replaced(
            text=made.text or "",
            language=made.language,
            entities=[Entity(**entity(span)) for span in made.spans],
            replaced=list(made.replaced),
            epsilon=plain(sum(made.epsilons)),
            epsilon_unit=plain(max(made.epsilons, default=0.0)),
            units=len(made.epsilons),
            not_protected=left_open[chosen.name],
        )

    add_budgets(routes, questions)
    if not questions.settings.text_only:
        _add_speech(routes, questions)
    return routes


def _add_speech(routes: APIRouter, questions: Questions) -> None:
    specs = questions.settings.specs

    def left(*families: str) -> list[str]:
        return [line for family in families for line in specs[family].make().ledger().not_protected]

    open_for = {
        "anonymise": left("detect", "voice", "mask"),
        "mask": ["the voice: it is the speaker's own", *left("detect", "mask")],
    }

    async def protect(request: Request, do: Literal["anonymise", "mask"]) -> Protected | Response:
        form = await questions.form(request)
        fields = read_fields(form)
        types = known_types(specs["detect"], fields.pop("types", None))
        answer = await questions.speech(
            request, fields.pop("audio"), fields.pop("text", ""), do=do, types=types, **fields
        )
        if request.headers.get("accept", "").startswith("audio/"):
            return Response(await asyncio.to_thread(to_wav, answer.speech), media_type=WAV)
        return await asyncio.to_thread(protected, answer, open_for[do])

    @routes.post(
        "/v1/anonymise", response_model=Protected, responses=SPEECH_ANSWERS, openapi_extra=form_schema("gender")
    )
    async def anonymise(request: Request) -> Any:
        """Speech in another voice without its sensitive words, with the times of the words that stay."""
        return await protect(request, "anonymise")

    @routes.post("/v1/mask", response_model=Protected, responses=SPEECH_ANSWERS, openapi_extra=form_schema())
    async def mask(request: Request) -> Any:
        """Speech in its own voice without its sensitive words."""
        return await protect(request, "mask")


def replace_spec(own: Spec, asked: Replace) -> Spec:
    """The service's own strategy with its options, or another by name; options that were given come on top."""
    given = {
        name: value
        for name in ("p", "target_epsilon", "keep_gender", "marker")
        if (value := getattr(asked, name)) is not None
    }
    base = dict(own.options) if asked.strategy in (None, own.name) else {}
    return read_spec("replace", {"use": asked.strategy or own.name, **base, **given})


def read_fields(form: dict[str, str | bytes]) -> dict[str, Any]:
    """The form of the speech routes, checked: `audio` as bytes, `types` as a list; 422 for anything else."""
    known = ("audio", "text", "types", "gender", "language")
    if set(form) - set(known):
        raise problems.invalid("form", f"the fields {', '.join(known)}")
    content = form.get("audio")
    if not isinstance(content, bytes):
        raise problems.invalid("form", "a file in the field audio")
    if any(isinstance(value, bytes) for name, value in form.items() if name != "audio"):
        raise problems.invalid("form", "texts, not files, in all fields but audio")
    fields: dict[str, Any] = dict(form)
    if fields.get("gender", "f") not in ("f", "m"):
        raise problems.invalid("gender", "f or m, or left out")
    if "types" in fields:
        fields["types"] = [kind.strip() for kind in fields["types"].split(",")]
    return fields


def protected(answer: SpeechAnswer, left_open: list[str]) -> Protected:
    """The answer of both speech routes; `left_open` says what their members may miss."""
    return Protected(
        audio=_encoded(answer.speech),
        rate_hz=answer.speech.rate_hz,
        duration_s=round(answer.speech.duration_s, 3),
        text=answer.text,
        words=[Said(**row) for row in words_of(answer)],
        entities=[Entity(**entity(span)) for span in answer.spans],
        transcript=answer.transcript,
        slices=[
            ReleasedSlice(text=piece.text, duration_s=round(piece.speech.duration_s, 3), audio=_encoded(piece.speech))
            for piece in answer.slices
        ],
        not_protected=left_open,
    )


def _encoded(speech: Any) -> str:
    return base64.b64encode(to_wav(speech)).decode()


SPEECH_ANSWERS: dict[int | str, dict[str, Any]] = {
    **ERRORS, 200: {"content": {WAV: {"schema": {"type": "string", "format": "binary"}}}},
}  # fmt: skip


def form_schema(*more: str) -> dict[str, Any]:
    """The body of a speech route for /openapi.json, as the form is read by hand; `more` may name `gender`."""
    fields: dict[str, dict[str, Any]] = {
        "audio": {"type": "string", "format": "binary", "description": "WAV, FLAC, OGG, MP3 and others"},
        "text": {
            "type": "string",
            "description": "What is said. Without it a recogniser writes it down, if there is one.",
        },
        "types": {"type": "string", "description": "Of what is masked, with commas: PER,LOC. All, unless named."},
        "language": {"type": "string", "description": "Of what is said; left out, what the text reads like."},
    }
    if "gender" in more:
        fields["gender"] = {"type": "string", "enum": ["f", "m"]}
    schema = {"type": "object", "required": ["audio"], "properties": fields, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}
