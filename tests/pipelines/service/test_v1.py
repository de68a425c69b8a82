"""Our own routes: an answer is the direct call's, and what cannot be answered says which limit or value is meant."""

from __future__ import annotations

import base64
import io
import urllib.error
import urllib.request

import numpy as np
import pytest
import soundfile
from service import SECRET, listening, serving, settings, spoken

from sottovoce.models.randomness import Secret, fresh_secret
from sottovoce.models.records import AudioRef, Source, Span, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.speech import chain
from sottovoce.models.speech.audio import AudioLimits, load, resample, to_wav
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.text.chain import draws_of
from sottovoce.models.text.edits import apply_edits
from sottovoce.pipelines.service.service_settings import Limits

TEXT = "call alice and then bob about alice"


@pytest.fixture(scope="module")
def client():
    with serving() as client:
        yield client


def test_what_is_found_is_what_the_detector_finds(client):
    found = client.post("/v1/detect", json={"text": TEXT}).json()["entities"]
    (direct,) = (settings().specs["detect"].make(),)
    direct.setup()
    expected = direct.detect([TEXT])[0]
    assert [(e["begin"], e["end"], e["type"], e["score"]) for e in found] == [
        (s.begin, s.end, s.type, s.score) for s in expected
    ]


def test_a_session_repeats_its_surrogates_and_a_request_alone_does_not(client):
    asked = {"text": TEXT, "strategy": "consistent"}
    first, again = (client.post("/v1/replace", json=asked, headers={"X-Session": "s"}).json() for _ in range(2))
    assert first == again
    words = first["text"].split()
    assert words[1] == words[6] != words[4], "one surrogate for each person"
    assert len({client.post("/v1/replace", json=asked).json()["text"] for _ in range(8)}) > 4


def test_surrogates_are_those_of_the_strategy_under_the_key_of_the_session():
    secret = fresh_secret()
    with serving(secret=secret) as client:
        given = client.post("/v1/replace", json={"text": TEXT, "strategy": "full"}, headers={"X-Session": "s"}).json()
    strategy = Spec("replace", "full").make()
    strategy.setup()
    spans = tuple(Span(e["begin"], e["end"], e["type"]) for e in given["entities"])
    key = draws_of(Secret(secret.digest("session", "", "s")), Spec("replace", "full"))
    utterance = Utterance("request", "request", 0, TEXT, Source("", 0), spans=spans)
    assert given["text"] == apply_edits(TEXT, strategy.replace(utterance, key))[0]


def test_replacing_tells_its_epsilon(client):
    asked = {"text": TEXT, "strategy": "full"}
    assert client.post("/v1/replace", json=asked).json()["epsilon"] == 0
    some = client.post("/v1/replace", json=asked | {"p": 0.9}).json()
    assert some["units"] == 3 and 0 < some["epsilon_unit"] < some["epsilon"]
    assert client.post("/v1/replace", json=asked | {"strategy": "typed", "p": 0.5}).json()["epsilon"] == "inf"


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({}, "text"),
        ({"text": "a", "p": 2}, "p"),
        ({"text": "a", "strategy": "hash"}, "'redact', 'typed'"),
        ({"text": "a", "strategy": "full", "p": 0.5, "target_epsilon": 1}, "give one of them"),
        ({"text": "a", "petronella": 1}, "a key is not known"),
    ],
)
def test_a_wrong_option_is_named_and_what_was_sent_is_not_repeated(client, wrong, told):
    answer = client.post("/v1/replace", json=wrong)
    assert answer.status_code == 422 and told in answer.json()["error"]["allowed"]
    assert "petronella" not in answer.text


def test_what_is_too_much_is_a_413_that_names_the_limit():
    with serving(limits=Limits(body_bytes=2000, characters=50)) as client:
        long = client.post("/v1/detect", json={"text": "x" * 51})
        assert long.status_code == 413 and "50 characters" in long.json()["error"]["allowed"]
        heavy = client.post("/v1/detect", json={"text": "x" * 3000})
        assert heavy.status_code == 413 and "2000 bytes" in heavy.json()["error"]["allowed"]
        chunks = client.post(
            "/v1/detect", content=iter([b"x" * 1500] * 3), headers={"Content-Type": "application/json"}
        )
        assert chunks.status_code == 413, "a body that does not say how long it is"


def test_a_client_that_sends_before_it_reads_sees_why_its_body_is_refused():
    """Over a socket: a server that answers and hangs up resets the connection, and the client reads no answer at all."""
    with listening(limits=Limits(body_bytes=1 << 20)) as address:
        for size in ((1 << 20) + 1, 3 << 20):
            asked = urllib.request.Request(f"{address}/v1/detect", b"x" * size)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked)
            assert refused.value.code == 413 and b"1048576 bytes" in refused.value.read()


def test_budgets_are_those_of_the_command_line(client):
    rr = client.post("/v1/budget/rr", json={"p": 0.9, "pi_min": 1.30253e-4}).json()
    assert rr["epsilon_unit"] == pytest.approx(6.75, abs=0.01)
    edp = {"z0": 1, "decay": "linear", "tau": 0.1, "epochs": 10, "n": 4480, "batch_size": 64, "delta": 5e-4}
    answer = client.post("/v1/budget/edp", json=edp | {"sampling": "shuffle"}).json()
    assert answer["sound"] and answer["epsilon"] > 1
    assert client.post("/v1/budget/edp", json=edp | {"decay": "exp", "tau": 1}).status_code == 422


@pytest.fixture(scope="module")
def speaking():
    with serving(text_only=False) as client:
        yield client, SECRET


def sent(**fields):
    content, record = spoken()
    return {"files": {"audio": content}, "data": {"text": record["text"], "gender": record["gender"], **fields}}


@pytest.mark.slow
def test_speech_comes_back_as_the_chain_of_the_pipeline_makes_it(speaking):
    client, secret = speaking
    answer = client.post("/v1/anonymise", **sent(), headers={"X-Session": "s"})
    assert answer.status_code == 200, answer.text
    given = answer.json()
    content, record = spoken()
    specs = settings().specs
    members = [specs[family].make() for family in ("align", "voice", "mask", "relisten")]
    direct = chain.SpeechChain(*members, Slicer(), Secret(secret.digest("session", "", "s")))
    direct.setup()
    detector = specs["detect"].make()
    detector.setup()
    utterance = Utterance(
        "request", "request", 0, record["text"], Source("", 0), gender=record["gender"],
        spans=tuple(detector.detect([record["text"]])[0]),
    )  # fmt: skip
    speech = resample(load(AudioRef("x"), lambda _: io.BytesIO(content), AudioLimits()), 16_000)
    protected = direct.protected(Spoken(utterance, speech))
    assert base64.b64decode(given["audio"]) == to_wav(protected.speech)
    assert [base64.b64decode(piece["audio"]) for piece in given["slices"]] == [
        to_wav(p.speech) for p in direct.cut(protected)
    ]
    assert given["text"] == "my name is"
    assert [word["masked"] for word in given["words"]] == [False, False, False, True, True]
    assert [word["text"] for word in given["words"]][-1] is None


@pytest.mark.slow
def test_masking_keeps_the_voice_and_nothing_of_the_masked_words(speaking):
    client, _ = speaking
    answer = client.post("/v1/mask", **sent())
    assert answer.status_code == 200, answer.text
    given = answer.json()
    after, rate_hz = soundfile.read(io.BytesIO(base64.b64decode(given["audio"])))
    before, _ = soundfile.read(io.BytesIO(spoken()[0]))
    kept, gone = given["words"][1], given["words"][3]
    same = slice(int(kept["begin_s"] * rate_hz), int(kept["end_s"] * rate_hz))
    assert np.allclose(after[same], before[same], atol=1e-3)
    assert np.ptp(after[int(gone["begin_s"] * rate_hz) : int(gone["end_s"] * rate_hz)]) == 0
    wav = client.post("/v1/mask", **sent(), headers={"Accept": "audio/wav"})
    assert wav.headers["content-type"] == "audio/wav" and wav.content[:4] == b"RIFF"


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields, status, code",
    [
        ({"types": "NAME"}, 422, "options"),
        ({"language": "de"}, 422, "language"),
        ({"gender": "x"}, 422, "gender"),
        ({"text": "-"}, 422, "transcript_missing"),
        ({"text": "something else altogether was said here by nobody at all"}, 422, None),
        ({"secret": "x"}, 422, "form"),
    ],
)
def test_speech_that_cannot_be_handled_is_refused_with_its_reason(speaking, fields, status, code):
    answer = speaking[0].post("/v1/anonymise", **sent(**fields))
    assert answer.status_code == status and code in (None, answer.json()["error"]["code"])


@pytest.mark.slow
def test_what_is_no_sound_or_too_long_is_refused(speaking):
    client, _ = speaking
    assert (
        client.post("/v1/mask", files={"audio": b"no sound"}, data={"text": "a"}).json()["error"]["code"]
        == "audio_unreadable"
    )
    long = io.BytesIO()
    soundfile.write(long, np.random.default_rng(0).normal(0, 0.1, 8000 * 121), 8000, format="FLAC")
    answer = client.post("/v1/mask", files={"audio": long.getvalue()}, data={"text": "a"})
    assert answer.status_code == 413 and "at most 120 s" in answer.json()["error"]["allowed"]
    assert client.post("/v1/mask", data={"text": "a"}).status_code == 422
