"""What every shape of the service asks of it: limits are kept here, and the queues are met here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from sottovoce.models.errors import SottovoceError
from sottovoce.models.settings import Spec
from sottovoce.pipelines.service import measures, problems
from sottovoce.pipelines.service.batches import Batches, unless_gone
from sottovoce.pipelines.service.draws import HEADER, RequestDraws, draws_for
from sottovoce.pipelines.service.gate import CALLER
from sottovoce.pipelines.service.service_settings import ServiceSettings
from sottovoce.pipelines.service.speech_work import SpeechAnswer, SpeechItem
from sottovoce.pipelines.service.text_work import TextAnswer, TextItem

FORM_FIELDS, TEXTS_AT_ONCE, MOST_TEXTS = 16, 16, 512


class Questions:
    """The service as its routes see it: its methods keep the limits and wait in the queues for an answer."""

    def __init__(self, settings: ServiceSettings):
        self.settings = settings
        self.queues: dict[str, Batches] = {}

    def draws(self, request: Request) -> RequestDraws:
        """The key of all random choices for this request: fresh, or the same for all of one caller's X-Session."""
        return draws_for(self.settings.secret, request.scope[CALLER], request.headers.get(HEADER))

    async def text(
        self, request: Request, text: str, strategy: Spec | None = None, language: str | None = None
    ) -> TextAnswer:
        """The answer for a single text; limits and options are those of `texts`."""
        (answer,) = await self.texts(request, [text], strategy, language)
        return answer

    async def texts(
        self, request: Request, texts: Sequence[str], strategy: Spec | None = None, language: str | None = None
    ) -> list[TextAnswer]:
        """A batch at a time, so that one caller's many texts leave room in the queue for others'; all within one time limit."""
        if len(texts) > MOST_TEXTS:
            raise problems.too_large(f"at most {MOST_TEXTS} texts at a time")
        self.check_length("".join(texts))
        items = [TextItem(text, self.draws(request), strategy, language) for text in texts]

        async def answers() -> list[TextAnswer]:
            ask, out = self.queues["text"].ask, []
            for begin in range(0, len(items), TEXTS_AT_ONCE):
                out += await asyncio.gather(*map(ask, items[begin : begin + TEXTS_AT_ONCE]))
            return out

        return await self._within(request, answers())

    async def speech(self, request: Request, content: bytes, text: str, **more: Any) -> SpeechAnswer:
        if self.settings.text_only:
            raise problems.Problem(501, "text_only", "texts: this service was started with --text-only")
        self.check_length(text)
        item = SpeechItem(content, text, self.draws(request), **more)
        answer = await self._within(request, self.queues["speech"].ask(item))
        measures.SPEECH.inc(answer.speech.duration_s)
        return answer

    async def compute(self, request: Request, figures: Callable[[], Any]) -> Any:
        """What `figures` gives, called from a queue of its own: a long calculation keeps no other caller waiting."""
        return await self._within(request, self.queues["budget"].ask(figures))

    async def _within(self, request: Request, asking: Awaitable[Any]) -> Any:
        try:
            return await unless_gone(request.receive, asking, self.settings.limits.wait_s)
        except SottovoceError as error:
            raise problems.of_error(error, self.settings.audio.max_seconds) from None

    def check_length(self, text: str | bytes) -> None:
        """413 beyond --max-characters; several texts are counted together."""
        most = self.settings.limits.characters
        if len(text) > most:
            raise problems.too_large(f"a text of at most {most} characters (--max-characters)")

    async def form(self, request: Request) -> dict[str, str | bytes]:
        """The fields of a multipart body, in memory: what a parser puts into a temporary file may be found there."""
        parser = _InMemory(
            Headers(scope=request.scope), request.stream(), max_files=2, max_fields=FORM_FIELDS,
            max_part_size=self.settings.limits.body_bytes,
        )  # fmt: skip
        parser.spool_max_size = self.settings.limits.body_bytes + 1
        try:
            form = await parser.parse()
        except (MultiPartException, KeyError, ValueError):
            raise problems.invalid("form", "multipart/form-data with its fields and at most one file each") from None
        out: dict[str, str | bytes] = {}
        for name, value in form.multi_items():
            out[name] = await value.read() if isinstance(value, UploadFile) else value
        return out


class _InMemory(MultiPartParser):
    """`spool_max_size` is set above the largest body, so that no part ever rolls over to disk."""
