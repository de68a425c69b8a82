"""Cloud Storage in memory, on loopback: the JSON requests of Google's client that Beam's file system makes.

`ifGenerationMatch` is honoured, since exclusive creation and replacement rest on it; a generation is made from the content.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import zlib
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import google_crc32c

Answer = tuple[int, dict[str, str], bytes]


class StorageStandIn:
    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], bytes] = {}
        self._uploads: dict[str, tuple[tuple[str, str], bytes]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StorageStandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Answer:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self._lock:
            if url.path.startswith("/batch/"):
                return self._batch(headers["Content-Type"], body)
            if url.path.startswith("/upload/"):
                return self._upload(method, url.path, query, headers, body)
            return self._object(method, url.path, query, headers.get("Range"))

    def _object(self, method: str, path: str, query: dict[str, str], wanted: str | None = None) -> Answer:
        if copy := re.search(r"/b/([^/]+)/o/(.+)/(?:copyTo|rewriteTo)/b/([^/]+)/o/(.+)$", path):
            source, target = (copy[1], unquote(copy[2])), (copy[3], unquote(copy[4]))
            if source not in self.objects:
                return _json(404, {"error": {"code": 404, "message": "No such object"}})
            self.objects[target] = self.objects[source]
            described = self._describe(target)
            rewritten = {"done": True, "resource": described, "totalBytesRewritten": "0", "objectSize": "0"}
            return _json(200, rewritten if "/rewriteTo/" in path else described)
        if listing := re.search(r"/b/([^/]+)/o$", path):
            prefix = query.get("prefix", "")
            found = [key for key in sorted(self.objects) if key[0] == listing[1] and key[1].startswith(prefix)]
            return _json(200, {"items": [self._describe(key) for key in found]})
        if bucket := re.search(r"/b/([^/]+)$", path):
            return _json(200, {"name": bucket[1], "projectNumber": "1"})
        named = re.search(r"/b/([^/]+)/o/(.+)$", path)
        assert named, path
        key = (named[1], unquote(named[2]))
        if key not in self.objects:
            return _json(404, {"error": {"code": 404, "message": "No such object"}})
        if method == "DELETE":
            del self.objects[key]
            return 204, {}, b""
        if query.get("alt") == "media":
            return _content(self.objects[key], wanted)
        return _json(200, self._describe(key))

    def _upload(self, method: str, path: str, query: dict[str, str], headers: Any, body: bytes) -> Answer:
        if query.get("uploadType") == "multipart":
            described, content = _parts(headers["Content-Type"], body)
            key = (path.split("/b/")[1].split("/")[0], json.loads(described)["name"])
            wanted = query.get("ifGenerationMatch")
            if wanted is not None and wanted != (_generation(self.objects[key]) if key in self.objects else "0"):
                return _json(412, {"error": {"code": 412, "message": "Precondition Failed"}})
            self.objects[key] = content
            return _json(200, self._describe(key))
        if method == "POST":
            name = json.loads(body)["name"] if body else query["name"]
            self._uploads[upload := str(len(self._uploads))] = ((path.split("/b/")[1].split("/")[0], name), b"")
            return 200, {"Location": f"{self.url}{path}?uploadType=resumable&upload_id={upload}"}, b""
        key, so_far = self._uploads[query["upload_id"]]
        self._uploads[query["upload_id"]] = (key, so_far + body)
        if headers["Content-Range"].endswith("/*"):
            return 308, {"Range": f"bytes=0-{len(so_far + body) - 1}"}, b""
        self.objects[key] = so_far + body
        return _json(200, self._describe(key))

    def _batch(self, content_type: str, body: bytes) -> Answer:
        """Several requests in one, each answered in its part."""
        answers = []
        for part in _parts(content_type, body):
            line, _, _ = part.lstrip().partition(b"\n")
            method, target, _ = line.decode().split(" ", 2)
            code, headers, content = self._object(method, urlsplit(target).path, {})
            lines = [f"HTTP/1.1 {code} Answer", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
            answers.append("\r\n".join(lines).encode() + content)
        parts = b"".join(b"--cut\r\nContent-Type: application/http\r\n\r\n" + answer + b"\r\n" for answer in answers)
        return 200, {"Content-Type": 'multipart/mixed; boundary="cut"'}, parts + b"--cut--"

    def _describe(self, key: tuple[str, str]) -> dict[str, Any]:
        return {
            "bucket": key[0],
            "name": key[1],
            "size": str(len(self.objects[key])),
            "crc32c": _checksum(self.objects[key]),
            "updated": "2025-01-01T00:00:00.000Z",
            "generation": _generation(self.objects[key]),
        }

    def _handler(stand_in) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                code, headers, content = stand_in.answer(self.command, self.path, self.headers, body)
                self.send_response(code)
                for name, value in (headers | {"Content-Length": str(len(content))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_PUT = do_DELETE = do_GET

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _generation(content: bytes) -> str:
    return str(1 + zlib.crc32(content))


def _checksum(content: bytes) -> str:
    return base64.b64encode(google_crc32c.Checksum(content).digest()).decode()


def _content(content: bytes, wanted: str | None) -> Answer:
    """All of it, or the range that a reader asks for after a seek. The checksum is always that of the whole."""
    headers = {"X-Goog-Hash": f"crc32c={_checksum(content)}", "X-Goog-Generation": _generation(content)}
    if wanted is None:
        return 200, headers, content
    begin, end = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted).groups()
    part = content[int(begin) : int(end) + 1 if end else None]
    if not part:
        return 416, {"Content-Range": f"bytes */{len(content)}"}, b""
    last = int(begin) + len(part) - 1
    return 206, headers | {"Content-Range": f"bytes {begin}-{last}/{len(content)}"}, part


def _json(code: int, value: Any) -> Answer:
    return code, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _parts(content_type: str, body: bytes) -> list[bytes]:
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return [part.get_payload(decode=True) for part in message.get_payload()]
