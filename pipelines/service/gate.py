"""The outermost shell of the service: who may come in, how much they may bring, what is written down, which headers go out.

Everything that breaks below ends here, told by type and place: a traceback, or the words of a foreign error, may quote a
request. One line is written for each request, with its route as the program names it: paths and queries are the caller's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

from sottovoce.models.errors import told_by_place
from sottovoce.pipelines.service import measures, problems
from sottovoce.pipelines.service.service_settings import ServiceSettings, is_loopback

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

OPEN = ("/", "/health", "/openapi.json")  # and whatever belongs to the page: nothing of these knows a request
CALLER = "sottovoce.caller"
MOST_FORGOTTEN, FORGETTING_S = 4, 10.0  # times the largest body, and seconds, that are read of what is refused anyway
SAFE_HEADERS = {
    "cache-control": "no-store",
    # Styles may stand in the page: the report of a run, which it opens without scripts, has its own inside.
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; media-src 'self' blob:; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
log = logging.getLogger("sottovoce.service")


class BodyTooLarge(HTTPException):
    """Raised while a body is read. Of this kind alone the framework does not make "the body cannot be read"."""

    def __init__(self, problem: problems.Problem):
        super().__init__(problem.status)
        self.problem = problem


class Admission:
    """ASGI middleware around all routes: token, size, request id, headers and log line of each request."""

    def __init__(self, app: Any, settings: ServiceSettings, error_body: Callable[[str, problems.Problem], Any]):
        self._app, self._settings, self._error_body = app, settings, error_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        answer = _Answer(send, secrets.token_hex(8))
        began = time.perf_counter()
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            await self._let_in(scope, receive, headers)
            await self._app(scope, self._limited(receive, headers), answer)
        except problems.Problem as problem:
            await self._tell(scope, answer, problem)
        except Exception as error:  # noqa: BLE001  (its words may quote the request)
            log.error("%s unexpected %s", answer.request_id, told_by_place(error))
            unforeseen = problems.Problem(500, "unexpected", f"report this with the request id {answer.request_id}")
            await self._tell(scope, answer, unforeseen)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.perf_counter() - began
            measures.REQUESTS.labels(route, answer.status).inc()
            measures.SECONDS.labels(route).observe(seconds)
            log.info("%s %s %s %s %.1f ms", answer.request_id, scope["method"], route, answer.status, 1000 * seconds)

    async def _let_in(self, scope: Scope, receive: Receive, headers: Mapping[str, str]) -> None:
        try:
            scope[CALLER] = self._caller(scope["path"], headers)
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > self._most(headers):
                raise self._too_large(headers)
        except problems.Problem:
            await self._let_finish(receive)
            raise

    def _caller(self, path: str, headers: Mapping[str, str]) -> str:
        if path in OPEN or path.startswith("/page/"):
            return ""
        tokens = self._settings.tokens
        if tokens is None:
            # A page of somebody else, whose name was made to point here, would be let in by its visitor's browser.
            host = headers.get("host", "")
            name = (
                host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
            )  # [::1] has colons of its own
            if not is_loopback(name):
                raise problems.Problem(421, "host", "a service without tokens answers to localhost only")
            return ""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        caller = tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise problems.Problem(401, "unauthorized", "Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
        return caller

    def _most(self, headers: Mapping[str, str]) -> int:
        limits = self._settings.limits
        return limits.json_bytes if "json" in headers.get("content-type", "").lower() else limits.body_bytes

    def _too_large(self, headers: Mapping[str, str]) -> problems.Problem:
        most, limits = self._most(headers), self._settings.limits
        if most < limits.body_bytes:
            return problems.too_large(f"a body of JSON of at most {most} bytes (it grows with --max-characters)")
        return problems.too_large(f"a body of at most {most} bytes (--max-body)")

    def _limited(self, receive: Receive, headers: Mapping[str, str]) -> Receive:
        got = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > self._most(headers):
                if message.get("more_body"):
                    await self._let_finish(receive)
                raise BodyTooLarge(self._too_large(headers))
            return message

        return counted

    async def _let_finish(self, receive: Receive) -> None:
        """Reads on and forgets, within bounds: a client that is cut off while it sends never sees why."""

        async def rest() -> None:
            left, more = MOST_FORGOTTEN * self._settings.limits.body_bytes, True
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = message.get("more_body", False)

        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(rest(), FORGETTING_S)

    async def _tell(self, scope: Scope, answer: _Answer, problem: problems.Problem) -> None:
        if not answer.begun:
            await answer.json(problem.status, self._error_body(scope["path"], problem), problem.headers)


class _Answer:
    """Passes the answer on with its headers, and remembers its status."""

    def __init__(self, send: Send, request_id: str):
        self._send, self.request_id, self.status, self.begun = send, request_id, 500, False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.begun, self.status = True, message["status"]
            given = {name for name, _ in message["headers"]}
            safe = [(name.encode(), value.encode()) for name, value in SAFE_HEADERS.items()]
            message["headers"] = [*message["headers"], *(row for row in safe if row[0] not in given)]
            message["headers"].append((b"x-request-id", self.request_id.encode()))
        await self._send(message)

    async def json(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        content = json.dumps(body).encode()
        rows = {"content-type": "application/json", "content-length": str(len(content)), **headers}
        encoded = [(name.lower().encode(), value.encode()) for name, value in rows.items()]
        await self({"type": "http.response.start", "status": status, "headers": encoded})
        await self({"type": "http.response.body", "body": content})
