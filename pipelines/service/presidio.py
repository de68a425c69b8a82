"""Presidio's shape: /analyze, /anonymize, /supportedentities, /recognizers, /anonymizers, with our detector behind them.

Requests and answers are as its clients know them; docs/service.md says what differs. Its 500 for a wrong request is a
422 here, with the same words.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from sottovoce.models.records import Span
from sottovoce.models.settings import languages_of
from sottovoce.models.text.language import code_of
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.presidio_operators import OPERATORS, Result, anonymized
from sottovoce.pipelines.service.questions import Questions

PATHS = ("/analyze", "/anonymize", "/supportedentities", "/recognizers", "/anonymizers")
NAMES = {
    "PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION", "DATE": "DATE_TIME", "TIME": "DATE_TIME",
    "PHONE": "PHONE_NUMBER", "CARD": "CREDIT_CARD", "IBAN": "IBAN_CODE", "EMAIL": "EMAIL_ADDRESS",
}  # fmt: skip
NO_LANGUAGE = "No matching recognizers were found to serve the request."


def error_body(problem: problems.Problem) -> dict[str, Any]:
    """The words alone: Presidio's errors have no code."""
    return {"error": problem.allowed}


Texts = Annotated[list[str], Field(fail_fast=True)]  # one wrong value is told, and not each of a hundred thousand


class Loose(BaseModel):
    """Presidio takes keys that it does not know, and so must this."""

    model_config = ConfigDict(extra="ignore")


class Analyze(Loose):
    """Body of /analyze, by Presidio's names. `ad_hoc_recognizers` are refused; `correlation_id` has no effect."""

    text: str | Texts | None = Field(None, examples=["John Smith lives in Berlin"])
    language: str | None = Field(None, examples=["en"])
    entities: Texts | None = None
    score_threshold: float | None = None
    return_decision_process: bool | int | None = None
    correlation_id: str | None = None
    allow_list: Texts | None = None
    ad_hoc_recognizers: list[Any] | None = None


class Anonymize(Loose):
    """Body of /anonymize, by Presidio's names: `anonymizers` has an operator by type, and `DEFAULT` for others."""

    text: str | None = None
    anonymizers: dict[str, dict[str, Any]] | None = None
    analyzer_results: Annotated[list[Result], Field(fail_fast=True)] | None = None


class Error(BaseModel):
    """The body of an error, as Presidio has it: words without a code."""

    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Error, "description": "What is wrong"} for status in (400, 401, 413, 421, 422, 429)
}


def router(questions: Questions) -> APIRouter:
    """Presidio's routes; which types and languages they know is asked of the detector once, at the start."""
    routes = APIRouter()
    found = questions.settings.specs["detect"].make().finds() or frozenset(NAMES)
    supported = sorted({NAMES.get(kind, kind) for kind in found})

    languages = languages_of(questions.settings.specs["detect"])

    def check_language(language: str | None) -> None:
        if language is not None and languages is not None and code_of(language) not in languages:
            raise problems.invalid("language", NO_LANGUAGE)

    @routes.post("/analyze", responses=ERRORS)
    async def analyze(request: Request, asked: Analyze) -> Any:
        """Presidio: entities of a text, or of each of a list of texts."""
        if not asked.text:
            raise problems.invalid("text", "No text provided")
        if not asked.language:
            raise problems.invalid("language", "No language provided")
        check_language(asked.language)
        if asked.ad_hoc_recognizers:  # an answer without them would pass for one in which they found nothing
            raise problems.invalid(
                "ad_hoc_recognizers", "ad_hoc_recognizers: none; the service finds what its job names"
            )
        if asked.entities and not set(asked.entities) & set(supported):
            raise problems.invalid("entities", NO_LANGUAGE)
        texts = [asked.text] if isinstance(asked.text, str) else asked.text
        answers = await questions.texts(request, texts, language=asked.language)
        rows = [results(text, answer.spans, asked) for text, answer in zip(texts, answers, strict=True)]
        return rows[0] if isinstance(asked.text, str) else rows

    @routes.post("/anonymize", responses=ERRORS)
    async def anonymize(request: Request, asked: Anonymize) -> dict[str, Any]:
        """Presidio: the text with its analyzer results replaced, as each type's operator says."""
        if asked.text is None and asked.analyzer_results is None and asked.anonymizers is None:
            raise problems.Problem(400, "json", "Invalid request json")
        if not asked.text:
            raise problems.invalid("text", "Invalid input, text can not be empty")
        questions.check_length(asked.text)
        return anonymized(asked.text, asked.analyzer_results or [], asked.anonymizers or {})

    @routes.get("/supportedentities", responses=ERRORS)
    async def supported_entities(language: str | None = None) -> list[str]:
        check_language(language)
        return supported

    @routes.get("/recognizers", responses=ERRORS)
    async def recognizers(language: str | None = None) -> list[str]:
        check_language(language)
        return ["sottovoce"]

    @routes.get("/anonymizers", responses=ERRORS)
    async def anonymizers() -> list[str]:
        return list(OPERATORS)

    return routes


def results(text: str, spans: tuple[Span, ...], asked: Analyze) -> list[dict[str, Any]]:
    """The spans by Presidio's names, without those that the request's entities, threshold and allow list leave out."""
    rows = []
    for span in spans:
        name = NAMES.get(span.type, span.type)
        wanted = asked.entities is None or not asked.entities or name in asked.entities
        sure = asked.score_threshold is None or span.score >= asked.score_threshold
        if wanted and sure and text[span.begin : span.end] not in (asked.allow_list or ()):
            why = None
            if asked.return_decision_process:
                why = {"recognizer": span.detector, "original_score": span.score, "score": span.score,
                       "pattern": None, "pattern_name": None, "textual_explanation": None, "validation_result": None,
                       "score_context_improvement": 0, "supportive_context_word": ""}  # fmt: skip
            rows.append({"entity_type": name, "start": span.begin, "end": span.end, "score": span.score,
                         "analysis_explanation": why})  # fmt: skip
    return rows
