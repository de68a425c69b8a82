"""A model server stands in on a loopback address: what it may answer, and what turns a record away."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.settings import read_spec
from sottovoce.models.text.detect.llm import AnswerUnusable, LanguageModel

TEXT = "call john smith, then john in oslo at john@example.org"


@pytest.fixture
def server():
    """`answer` is what the model says; `asked` is what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._send(200, {"data": []})

        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            said = Handler.answer
            if said is None:
                self.send_response(302)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                return
            self._send(200 if said != "down" else 500, {"choices": [{"message": {"content": said}}]})

        def _send(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *parts):
            pass

    asked = []
    serving = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    Handler.asked, Handler.address = asked, f"http://127.0.0.1:{serving.server_port}/v1"
    yield Handler
    serving.shutdown()
    thread.join()


def detector(server, **options):
    made = LanguageModel(server.address, "any", **options)
    made.setup()
    return made


def said(*spans):
    return json.dumps({"spans": [{"text": text, "type": kind} for text, kind in spans]})


def test_every_place_of_a_value_is_marked_as_whole_words_and_the_schema_is_asked_for(server):
    server.answer = said(("john", "PER"), ("john smith", "PER"), ("oslo", "LOC"), ("john@example.org", "EMAIL"))
    found = [(TEXT[s.begin : s.end], s.type) for s in detector(server).detect([TEXT])[0]]
    assert found == [("john smith", "PER"), ("john", "PER"), ("oslo", "LOC"), ("john@example.org", "EMAIL")]
    assert server.asked[0]["response_format"]["json_schema"]["strict"] is True
    assert server.asked[0]["messages"][1] == {"role": "user", "content": TEXT}


@pytest.mark.parametrize(
    "answer",
    [
        "down", "", "Here are the names: john", "[]", '{"spans": 3}', '{"spans": ["john"]}', '{"other": []}', said(("mary",
        "PER")),
        said(("John", "PER")), said(("john", "SECRET")), said((" ", "PER")), '{"spans": [{"text": 7, "type": "PER"}]}', None,
    ],
)  # fmt: skip
def test_whatever_is_not_the_answer_asked_for_turns_the_record_away(server, answer):
    made = detector(server)
    server.answer = answer
    with pytest.raises(AnswerUnusable) as refused:
        made.detect([TEXT])
    assert "john" not in str(refused.value)


def test_nothing_found_is_an_answer_and_an_empty_text_is_not_asked_about(server):
    server.answer = said()
    assert detector(server).detect([TEXT, "  "]) == [[], []]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "endpoint",
    ["https://api.example.org/v1", "http://192.168.1.4:8000/v1", "http://0.0.0.0/v1", "file:///etc/hosts", "http://localhost.example.org/v1",
     "http://127.0.0.1:99999/v1", "http://127.0.0.1@example.org/v1", ""],
)  # fmt: skip
def test_texts_do_not_leave_the_machine(endpoint):
    with pytest.raises(Exception, match="loopback"):
        read_spec("detect", {"use": "llm", "endpoint": endpoint, "model": "any"}).make()


def test_a_server_that_is_not_there_is_told_before_the_run(server):
    gone = LanguageModel("http://127.0.0.1:1/v1", "any")
    with pytest.raises(RunError, match="is the model server running"):
        gone.setup()


def test_a_proxy_of_the_environment_gets_nothing(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.answer = said(("oslo", "LOC"))
    assert len(detector(server).detect([TEXT])[0]) == 1
