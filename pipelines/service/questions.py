"""What every shape of the service asks of it: limits are kept here, and the queues are met here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from sottovoce.models.errors import SottovoceError
from sottovoce.models.settings import Spec
from sottovoce.pipelines.service import measures, problems
from sottovoce.pipelines.service.batches import Batches, unless_gone
from sottovoce.pipelines.service.draws import HEADER, Draws, draws_for
from sottovoce.pipelines.service.gate import CALLER
from sottovoce.pipelines.service.service_settings import ServiceSettings
from sottovoce.pipelines.service.speech_work import SpeechAnswer, SpeechItem
from sottovoce.pipelines.service.text_work import TextAnswer, TextItem

FORM_FIELDS = 16


class Questions:
    def __init__(self, settings: ServiceSettings):
        self.settings = settings
        self.queues: dict[str, Batches] = {}

    def draws(self, request: Request) -> Draws:
        return draws_for(self.settings.secret, request.scope[CALLER], request.headers.get(HEADER))

    async def text(
        self, request: Request, text: str, strategy: Spec | None = None, language: str | None = None
    ) -> TextAnswer:
        self.check_length(text)
        return await self._ask(request, "text", TextItem(text, self.draws(request), strategy, language))

    async def speech(self, request: Request, content: bytes, text: str, **more: Any) -> SpeechAnswer:
        if self.settings.text_only:
            raise problems.Problem(501, "text_only", "texts: this service was started with --text-only")
        self.check_length(text)
        answer = await self._ask(request, "speech", SpeechItem(content, text, self.draws(request), **more))
        measures.SPEECH.inc(answer.speech.duration_s)
        return answer

    async def compute(self, request: Request, figures: Callable[[], Any]) -> Any:
        return await self._ask(request, "budget", figures)

    async def _ask(self, request: Request, queue: str, item: Any) -> Any:
        try:
            return await unless_gone(request.receive, self.queues[queue].ask(item), self.settings.limits.wait_s)
        except SottovoceError as error:
            raise problems.of_error(error, self.settings.audio.max_seconds) from None

    def check_length(self, text: str) -> None:
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
