"""A text is handled in its language: the one that the request names, else the one that it reads like; others are refused."""

from __future__ import annotations

import asyncio
import json

import pytest
from service import serving, settings

from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.languages import TABLE, language
from sottovoce.pipelines.service.batches import Asked
from sottovoce.pipelines.service.draws import draws_for
from sottovoce.pipelines.service.text_work import TextItem, TextWork

SAID = {
    "de": "erinnere mich am freitag an den termin",
    "en": "remind me on friday of the meeting",
    "es": "recuérdame el viernes la reunión",
    "fr": "rappelle moi vendredi la réunion",
    "it": "ricordami venerdì la riunione",
    "lv": "atgādini man piektdien par sapulci",
    "nl": "herinner me vrijdag aan de vergadering",
    "pl": "przypomnij mi w piątek o spotkaniu",
    "pt": "lembra me na sexta feira da reunião",
}
MARKED = {"text": SAID["de"], "strategy": "typed"}


@pytest.fixture(scope="module")
def client():
    with serving("detect=rules") as client:
        yield client


def said(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("code", TABLE)
def test_what_is_found_is_what_the_detector_finds_in_that_language(client, code):
    detector = settings("detect=rules").specs["detect"].make()
    detector.setup()
    expected = [(span.begin, span.end, span.type) for span in detector.detect_in(code, [SAID[code]])[0]]
    found = said(client.post("/v1/detect", json={"text": SAID[code], "language": code}))
    assert [(one["begin"], one["end"], one["type"]) for one in found["entities"]] == expected != []
    assert found["language"] == code


@pytest.mark.parametrize("code", TABLE)
def test_a_text_that_does_not_say_is_taken_for_what_it_reads_like(client, code):
    assert said(client.post("/v1/detect", json={"text": SAID[code]}))["language"] == code


def test_other_names_of_a_language_are_known(client):
    for name in ("de-AT", "German", "DE"):
        assert said(client.post("/v1/replace", json=MARKED | {"language": name}))["language"] == "de"


def test_surrogates_are_of_the_language(client):
    day = said(client.post("/v1/replace", json=MARKED | {"strategy": "full"}))["text"].split()[3]
    assert day in language("de").words("w")


@pytest.mark.parametrize(
    "asked",
    [
        MARKED | {"language": "xx"},
        MARKED | {"language": "fi"},
        MARKED | {"text": "muistuta minua kokouksesta ensi viikon torstaina kello viisi"},
        MARKED | {"strategy": "named", "language": "de"},
    ],
)
def test_an_unknown_language_is_refused_and_the_known_ones_are_named(client, asked):
    answer = client.post("/v1/replace", json=asked)
    assert answer.status_code == 422 and answer.json()["error"]["code"] == "language"
    known = [ENGLISH] if asked["strategy"] == "named" else sorted(TABLE)
    assert answer.json()["error"]["allowed"].startswith(f"language: {', '.join(known)};")


def test_other_peoples_clients_say_the_language_in_their_way(client):
    (row,) = said(client.post("/analyze", json={"text": SAID["nl"], "language": "nl"}))
    assert SAID["nl"][row["start"] : row["end"]] == "vrijdag"
    assert said(client.get("/supportedentities?language=nl")) == said(client.get("/supportedentities"))
    elg = {"type": "text", "content": SAID["nl"], "params": {"strategy": "typed", "language": "nl"}}
    assert "[DATE]" in json.dumps(said(client.post("/process", json={**elg})))
    assert client.post("/process", json=elg | {"params": {"language": 3}}).status_code == 422
    assert client.post("/vpc?r=REDACT&language=nl", content=SAID["nl"]).text.split()[2] != "vrijdag"


def test_one_text_in_two_languages_in_one_batch_is_answered_in_each():
    spec = settings("detect=rules").specs["detect"]
    work, draws, text = TextWork(spec), draws_for(settings().secret, "", None), SAID["nl"]
    work.setup()

    async def asked():
        future = asyncio.get_running_loop().create_future
        return work([Asked(TextItem(text, draws, None, code), future()) for code in ("nl", "en", "nl", "xx")])

    dutch, english, again, unknown = asyncio.run(asked())
    assert dutch == again and dutch.spans and not english.spans
    assert unknown.code == "language", "and the one that cannot be answered spoils no other"


def test_the_job_may_say_the_language_of_all():
    with serving("detect=rules", language="nl") as client:
        assert said(client.post("/v1/detect", json={"text": "friday"}))["language"] == "nl"
