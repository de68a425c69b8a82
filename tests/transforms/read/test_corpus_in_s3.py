"""A corpus in S3 is looked at before any pipeline gives Beam's filesystems their options: by boto3, from a bucket on loopback."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from apache_beam.io.filesystems import FileSystems

from sottovoce.pipelines import cli

LINES = b'{"id": "1", "text": "call anna"}\n{"id": "2", "text": "play jazz"}\n'
LISTED = (
    "<ListBucketResult><Name>b</Name><KeyCount>1</KeyCount><IsTruncated>false</IsTruncated><Contents><Key>in/manifest.jsonl"
    f"</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag><Size>{len(LINES)}</Size></Contents></ListBucketResult>"
)


class _Bucket(BaseHTTPRequestHandler):
    """One object, `in/manifest.jsonl`."""

    def do_GET(self):
        if "list-type=2" in self.path:
            return self._answer(200, LISTED.encode())
        if not self.path.startswith("/b/in/manifest.jsonl"):
            return self._answer(404, b"")
        begin, _, end = (self.headers["Range"] or "bytes=0-").removeprefix("bytes=").partition("-")
        self._answer(206, LINES[int(begin) : int(end) + 1 if end else None])

    do_HEAD = do_GET

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(LINES) if self.command == "HEAD" and status == 206 else len(body)))
        self.send_header("Content-Type", "text/plain")
        self.send_header("ETag", "x")
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def bucket():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Bucket) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_corpus_in_s3_is_looked_at(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(FileSystems, "_pipeline_options", None)
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    files = ["--config", str(tmp_path / "job.yaml"), "--secret-file", str(tmp_path / "secret")]
    with bucket() as url:
        assert cli.main(["init", "--input", "s3://b/in", *files, "--", f"--s3_endpoint_url={url}"]) == 0
    assert capsys.readouterr().out.startswith("records   2\n")
