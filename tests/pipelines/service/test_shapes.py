"""Other people's clients work unchanged: COMPRISE's examples, what Presidio's end-to-end tests send, ELG's messages."""

from __future__ import annotations

import io
import itertools
import json

import pytest
import requests
import soundfile
from service import listening, serving, spoken

from sottovoce.pipelines.service.presidio_operators import Result, apart


@pytest.fixture(scope="module")
def client():
    with serving("detect=default") as client:
        yield client


@pytest.mark.slow
def test_the_published_client_of_the_voice_transformer_works_as_it_stands():
    with (
        listening("audio.transcribe=moonshine", text_only=False) as API_URL,
        requests.Session() as session,
    ):
        session.trust_env = False  # a proxy of the machine has no way to this process
        session.headers["X-Session"] = "the same draws whenever this is tested"
        content, _ = spoken("bank-01-1")  # which the recogniser writes down as it was said
        out = io.BytesIO()
        soundfile.write(out, *soundfile.read(io.BytesIO(content)), format="WAV")
        params = {
            "wgender": "m",
            "cross_gender": "same",
            "distance": "plda",
            "proximity": "dense",
            "sample-frequency": 16000,
        }
        response = session.post(f"{API_URL}/vpc", data=out.getvalue(), params=json.dumps(params))
        assert response.status_code == 200, response.text
        samples, rate_hz = soundfile.read(io.BytesIO(response.content))
        assert rate_hz == 16000 and len(samples) > 16000
        other = session.post(f"{API_URL}/vpc?wgender=m&sample-frequency=8000&anon-pool=anon_pool/x", data=content)
        assert other.status_code == 200, other.text
        assert soundfile.info(io.BytesIO(other.content)).samplerate == 8000
        assert other.headers["x-not-used"] == "anon-pool"
        message = {"request": ("", json.dumps({"type": "audio", "format": "LINEAR16"}), "application/json")}
        elg = session.post(f"{API_URL}/process", files=message | {"content": ("", content, "audio/x-wav")})
        assert elg.status_code == 200, elg.text
        answer = elg.json()["response"]
        assert answer["type"] == "audio" and answer["content"].startswith("UklGR")


@pytest.mark.parametrize("query", ['{"m": "en", "r": "%s"}', "m=en&r=%s"])
@pytest.mark.parametrize("strategy, kept", [("REDACT", "call [REDACTED] now"), ("WORD", None), ("FULL", None)])
def test_comprise_texts_go_in_and_come_out_as_plain_strings(client, query, strategy, kept):
    answers = [client.post(f"/vpc?{query % strategy}", content=b"call alice now") for _ in range(1 if kept else 12)]
    for answer in answers:
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
        assert kept in (None, answer.text) and answer.text.startswith("call ")
    # a coin may leave the word, and a draw may hit it: each request has its own
    assert any("alice" not in answer.text for answer in answers)


@pytest.mark.parametrize("query", ["r=HASH", "wgender=m", "{", '{"r": ["REDACT"]}'])
def test_comprise_parameters_that_are_wrong_are_refused(client, query):
    assert client.post(f"/vpc?{query}", content=b"call alice").status_code == 422


PRESIDIO = "John Smith drivers license is AC432223"


def test_presidio_clients_get_their_shape(client):
    found = client.post(
        "/analyze", json={"text": PRESIDIO, "language": "en", "correlation_id": "1", "trace": "1"}
    ).json()
    assert {k: found[0][k] for k in ("entity_type", "start", "end")} == {"entity_type": "PERSON", "start": 0, "end": 10}
    assert set(found[0]) == {"entity_type", "start", "end", "score", "analysis_explanation"}
    only = client.post("/analyze", json={"text": PRESIDIO, "language": "en", "entities": ["PERSON"]}).json()
    assert [row["entity_type"] for row in only] == ["PERSON"]
    assert len(client.post("/analyze", json={"text": [PRESIDIO, "hi"], "language": "en"}).json()) == 2
    assert "PERSON" in client.get("/supportedentities?language=en").json()
    assert "PERSON" in client.get("/supportedentities?unknown=input").json()
    assert {"hash", "mask", "redact", "replace"} <= set(client.get("/anonymizers").json())


@pytest.mark.parametrize(
    "body, told",
    [
        ({}, "No text provided"),
        ({"language": "en"}, "No text provided"),
        ({"text": PRESIDIO}, "No language provided"),
        ({"text": PRESIDIO, "language": "zz"}, "No matching recognizers were found to serve the request."),
    ],
)
def test_presidio_clients_are_told_in_the_words_they_know(client, body, told):
    answer = client.post("/analyze", json=body)
    assert (answer.status_code, answer.json()) == (422, {"error": told})


def test_presidio_operators_do_what_they_did(client):
    asked = {
        "text": "hello world, my name is Jane Doe. My number is: 034453334",
        "anonymizers": {
            "DEFAULT": {"type": "replace", "new_value": "ANONYMIZED"},
            "PHONE_NUMBER": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True},
        },
        "analyzer_results": [
            {"start": 24, "end": 32, "score": 0.8, "entity_type": "NAME"},
            {"start": 24, "end": 28, "score": 0.8, "entity_type": "FIRST_NAME"},
            {"start": 29, "end": 32, "score": 0.6, "entity_type": "LAST_NAME"},
            {"start": 48, "end": 57, "score": 0.95, "entity_type": "PHONE_NUMBER"},
        ],
    }
    answer = client.post("/anonymize", json=asked).json()
    assert answer["text"] == "hello world, my name is ANONYMIZED. My number is: 03445****"
    assert answer["items"][0] == {
        "start": 50,
        "end": 59,
        "entity_type": "PHONE_NUMBER",
        "text": "03445****",
        "operator": "mask",
    }
    assert client.post("/anonymize", json=asked | {"analyzer_results": []}).json()["text"] == asked["text"]
    assert client.post("/anonymize", json=asked | {"text": ""}).json() == {
        "error": "Invalid input, text can not be empty"
    }
    assert client.post("/anonymize", json={}).status_code == 400
    assert (
        client.post(
            "/anonymize", json=asked | {"anonymizers": {"DEFAULT": {"type": "encrypt", "key": "1" * 16}}}
        ).status_code
        == 422
    )


def test_overlapping_results_never_leave_a_covered_character_in_the_clear():
    rows = [
        Result(start=a, end=b, score=s, entity_type="X")
        for a, b, s in ((0, 6, 0.5), (4, 9, 0.9), (2, 3, 0.4), (8, 12, 0.9))
    ]
    kept = apart(rows)
    assert {i for row in kept for i in range(row.start, row.end)} == set(range(12))
    assert all(one.end <= other.start for one, other in itertools.pairwise(kept))


def test_thousands_of_results_are_no_burden():
    rows = [
        Result(start=at, end=at + 1, score=0.5, entity_type="X") for at in range(20_000)
    ]  # each beside each: minutes
    assert apart(rows[::-1]) == rows


def test_a_replacement_cannot_make_an_answer_of_gigabytes(client):
    rows = [{"start": at, "end": at + 1, "score": 0.5, "entity_type": "X"} for at in range(9)]
    for length, status in ((256, 200), (257, 422)):
        anonymizers = {"DEFAULT": {"type": "replace", "new_value": "a" * length}}
        asked = {"text": "call alice", "analyzer_results": rows, "anonymizers": anonymizers}
        assert client.post("/anonymize", json=asked).status_code == status


def test_a_list_of_texts_is_bounded_and_one_wrong_value_is_told_once(client):
    answer = client.post("/analyze", json={"text": ["call alice"] * 20, "language": "en"})
    assert len(answer.json()) == 20 and all(rows[0]["start"] == 5 for rows in answer.json())
    answer = client.post("/analyze", json={"text": [""] * 513, "language": "en"})
    assert answer.status_code == 413 and "at most 512 texts" in answer.json()["error"]
    told = client.post("/analyze", json={"text": [1, 2, 3], "language": "en"}).json()["error"]
    assert ".0:" in told and ".1:" not in told


@pytest.mark.parametrize("sent", ["with its length", "in pieces"])
def test_a_body_of_json_has_a_limit_of_its_own(client, sent):
    body = b'{"text": [' + b"1, " * 300_000 + b'1], "language": "en"}'
    content = body if sent == "with its length" else iter([body[:400_000], body[400_000:]])
    answer = client.post("/analyze", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413 and "a body of JSON of at most 705536 bytes" in answer.json()["error"]


def test_elg_messages(client):
    ask = {"type": "text", "content": "call alice now"}
    found = client.post("/process", json=ask).json()["response"]
    assert found["type"] == "annotations" and found["annotations"]["PER"][0]["start"] == 5
    new = client.post("/process", json=ask | {"params": {"strategy": "redact"}}).json()["response"]
    assert new["texts"][0]["content"] == "call [REDACTED] now"
    for wrong, code in (
        ({"type": "image"}, "elg.request.type.unsupported"),
        ({"type": "text"}, "elg.request.invalid"),
        (ask | {"params": {"x": 1}}, "elg.request.parameter.invalid"),
    ):
        answer = client.post("/process", json=wrong)
        assert answer.status_code == 422 and answer.json()["failure"]["errors"][0]["code"] == code
