"""The shape of COMPRISE's transformers (D2.3, sections 3.1, 3.2 and 3.4): `/vpc`, text in and text out, or WAV in and WAV out.

Its clients send parameters as a JSON object in place of the query, or as an ordinary query; with hyphens or underscores. What a
parameter cannot change here is named in the header X-Not-Used of the answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from sottovoce.models.settings import Spec, option_names
from sottovoce.models.speech.audio import resample, to_wav
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.error_shape import ERRORS, error_body
from sottovoce.pipelines.service.questions import Questions
from sottovoce.pipelines.service.speech_work import changed

__all__ = ["PATHS", "error_body", "router"]
PATHS = "/vpc"
STRATEGIES = {"REDACT": "redact", "WORD": "word", "WORD-BY-WORD": "word", "FULL": "full", "FULL-ENTITY": "full"}
GENDERS = {"same": "same", "other": "opposite", "random": "random"}
PROXIMITIES = {"dense": "dense", "sparse": "sparse", "random": "random", "farthest": "far", "nearest": "near"}
DISTANCES = {"plda": "plda", "cosine": "cosine"}
SOUND = (b"RIFF", b"fLaC", b"OggS", b"ID3", b"NIST")
OF_TEXT = ("m", "r", "language")
OF_VOICE = ("wgender", "cross-gender", "distance", "proximity", "anon-pool", "sample-frequency")


def router(questions: Questions) -> APIRouter:
    """One route, which tells speech from text by how the body begins."""
    routes = APIRouter()

    @routes.post("/vpc", responses=ANSWERS, response_class=Response, openapi_extra=BODY)
    async def vpc(request: Request) -> Response:
        """COMPRISE: a text with its sensitive words replaced, or speech in another voice without them."""
        given = read_parameters(request.url.query)
        body = await request.body()
        if not body.startswith(SOUND):
            return await _text(questions, request, body, given)
        return await _voice(questions, request, body, given)

    return routes


async def _text(questions: Questions, request: Request, body: bytes, given: Mapping[str, str]) -> Response:
    _refuse_unknown(given, OF_TEXT)
    named = one_of(given, "r", STRATEGIES, "REDACT")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise problems.invalid("body", "a text as UTF-8, or a WAV file") from None
    own = questions.settings.specs["replace"]
    spec = own if own.name == named else Spec("replace", named)
    answer = await questions.text(request, text, spec, given.get("language"))
    return PlainTextResponse(answer.text or "", headers=_not_used("m" if "m" in given else ""))


async def _voice(questions: Questions, request: Request, body: bytes, given: Mapping[str, str]) -> Response:
    _refuse_unknown(given, OF_VOICE)
    gender = one_of(given, "wgender", {"f": "f", "m": "m"}, "f") if "wgender" in given else None
    voice, unused = chosen_voice(questions.settings.specs["voice"], given)
    rate_hz = _rate(given.get("sample-frequency"))
    answer = await questions.speech(request, body, "", gender=gender, voice=voice)
    content = await asyncio.to_thread(lambda: to_wav(resample(answer.speech, rate_hz or answer.speech.rate_hz)))
    return Response(content, media_type="audio/wav", headers=_not_used(unused))


def read_parameters(query: str) -> dict[str, str]:
    """{"wgender": "m"} in place of the query, as `requests.post(..., params=json.dumps(parameters))` sends it, or wgender=m."""
    plain = unquote_plus(query)
    if plain.startswith("{"):
        try:
            found = json.loads(plain.removesuffix("="))
        except (ValueError, RecursionError):
            raise problems.invalid("parameters", "a JSON object in place of the query, or name=value") from None
        pairs = list(found.items()) if isinstance(found, dict) else []
    else:
        pairs = parse_qsl(query)
    return {str(name).replace("_", "-"): str(value) for name, value in pairs}


def one_of(given: Mapping[str, str], name: str, allowed: Mapping[str, str], otherwise: str) -> str:
    """What a parameter's value, or else `otherwise`, means in the table `allowed`; Problem 422 for any other."""
    value = given.get(name, otherwise)
    if value not in allowed:
        raise problems.invalid(name, f"{name}: one of {', '.join(allowed)}")
    return allowed[value]


def chosen_voice(own: Spec, given: Mapping[str, str]) -> tuple[Spec | None, str]:
    """(the voice with the pseudo-speaker that was asked for; the parameters that change nothing here)"""
    choice = {
        "gender": one_of(given, "cross-gender", GENDERS, "random"),
        "distance": one_of(given, "distance", DISTANCES, "plda"),
        "proximity": one_of(given, "proximity", PROXIMITIES, "dense"),
    }
    unused = [name for name in ("anon-pool",) if name in given]
    named = {"gender": "cross-gender", "distance": "distance", "proximity": "proximity"}
    asked = {option: choice[option] for option, name in named.items() if name in given}
    if not asked:
        return None, ", ".join(unused)
    if not set(asked) <= set(option_names("voice", own.name)):
        return None, ", ".join([*unused, *(named[option] for option in asked)])
    spec = changed(own, **asked)
    if choice["proximity"] in ("near", "far") and own.name == "phonetic":  # these look at the source: not for phonetic
        spec = Spec("voice", "xvector", spec.options)
    return spec, ", ".join(unused)


def _rate(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isdecimal() or len(given) > 6 or not 8_000 <= int(given) <= 48_000:
        raise problems.invalid("sample-frequency", "sample-frequency: from 8000 to 48000")
    return int(given)


def _refuse_unknown(given: Mapping[str, str], known: tuple[str, ...]) -> None:
    if set(given) - set(known):
        raise problems.invalid("parameters", f"for such a body: {', '.join(known)}")


def _not_used(names: str) -> dict[str, str]:
    return {"X-Not-Used": names} if names else {}


_EITHER = {
    "text/plain": {"schema": {"type": "string"}},
    "audio/wav": {"schema": {"type": "string", "format": "binary"}},
}
ANSWERS: dict[int | str, dict[str, Any]] = {
    **ERRORS, 200: {"description": "Of the kind that was sent", "content": _EITHER},
}  # fmt: skip
BODY = {
    "requestBody": {"required": True, "content": _EITHER},
    "parameters": [
        {"in": "query", "name": name, "schema": {"type": "string"}, "required": False} for name in (*OF_TEXT, *OF_VOICE)
    ],
}
