"""Servers on loopback that stand in for others: free ports, and JSON answered over HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import SplitResult, urlsplit

Answer = Callable[[str, SplitResult, Any, dict[str, str]], tuple[int, Any]]


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [taken.getsockname()[1] for taken in sockets]
    for taken in sockets:
        taken.close()
    return ports


def json_handler(answer: Answer) -> type[BaseHTTPRequestHandler]:
    """`answer` gets method, address, body and headers, and gives status and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            code, answered = answer(self.command, urlsplit(self.path), body, dict(self.headers))
            content = json.dumps(answered).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler
