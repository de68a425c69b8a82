"""What Presidio's own end-to-end tests ask (e2e-tests), asked of ours: the same answers, or a named difference."""

from __future__ import annotations

import pytest
from service import serving

TEXT = "John Smith drivers license is AC432223"
PERSON = {"entity_type": "PERSON", "start": 0, "end": 10}
LICENCE = {"entity_type": "CODE", "start": 30, "end": 38}  # US_DRIVER_LICENSE there
ZIP = {"name": "zip", "supported_language": "en", "supported_entity": "ZIP"}
PATTERN = {"name": "zip code (weak)", "regex": "[0-9]{5}", "score": 0.01}


@pytest.fixture(scope="module")
def client():
    with serving("detect=default") as client:
        yield client


def places(rows):
    return [{name: row[name] for name in PERSON} for row in rows]


@pytest.mark.parametrize(
    "more, found",
    [
        ({}, [PERSON, LICENCE]),
        ({"score_threshold": 0.0}, [PERSON, LICENCE]),
        ({"correlation_id": "123"}, [PERSON, LICENCE]),
        ({"trace": "1"}, [PERSON, LICENCE]),
        ({"trace": "somedata"}, [PERSON, LICENCE]),
        ({"return_decision_process": 0}, [PERSON, LICENCE]),
        ({"return_decision_process": True, "context": ["Driver license"]}, [PERSON, LICENCE]),
        ({"entities": ["PERSON"]}, [PERSON]),
    ],
)
def test_a_right_question_gets_its_entities(client, more, found):
    answer = client.post("/analyze", json={"text": TEXT, "language": "en", **more})
    assert answer.status_code == 200 and places(answer.json()) == found
    explained = [row["analysis_explanation"] for row in answer.json()]
    if more.get("return_decision_process"):
        assert all(
            {"recognizer", "pattern_name", "pattern", "original_score", "score", "textual_explanation"} <= set(why)
            for why in explained
        )
    else:
        assert explained == [None] * len(found)


def test_what_scores_less_than_the_threshold_is_left_out(client):
    scores = {row["score"] for row in client.post("/analyze", json={"text": TEXT, "language": "en"}).json()}
    asked = {"text": TEXT, "language": "en", "score_threshold": max(scores)}
    assert {row["score"] for row in client.post("/analyze", json=asked).json()} == {max(scores)}


@pytest.mark.parametrize(
    "recogniser", [ZIP | {"patterns": [PATTERN]}, ZIP | {"deny_list": ["Mr"]}, ZIP | {"patterns": [{"bebex": "x"}]}]
)
def test_recognisers_of_the_caller_are_refused_and_not_passed_over(client, recogniser):
    answer = client.post("/analyze", json={"text": TEXT, "language": "en", "ad_hoc_recognizers": [recogniser]})
    assert answer.status_code == 422 and "ad_hoc_recognizers" in answer.json()["error"]


def test_entities_that_are_supported_and_languages_that_are_not(client):
    for query in ("language=en", "uknown=input"):
        named = client.get(f"/supportedentities?{query}").json()
        assert {"PERSON", "LOCATION", "DATE_TIME", "PHONE_NUMBER", "CREDIT_CARD", "EMAIL_ADDRESS"} <= set(named)
        everything = client.post("/analyze", json={"text": TEXT, "language": "en", "entities": named}).json()
        assert places(everything) == [PERSON, LICENCE]
    answer = client.get("/supportedentities?language=he")
    assert answer.status_code == 422  # 500 there
    assert answer.json() == {"error": "No matching recognizers were found to serve the request."}


def test_a_body_that_is_no_json_is_told_as_one(client):
    answer = client.post("/anonymize", content='{"text": "a",}', headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and set(answer.json()) == {"error"}  # 500 there


@pytest.mark.parametrize(
    "anonymizers, new",
    [
        (
            {
                "DEFAULT": {"type": "replace", "new_value": "ANONYMIZED"},
                "CODE": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True},
                "PERSON": {"type": "replace", "new_value": "<PERSON>"},
            },
            "AC43****",
        ),
        ({"ABC": {"type": "replace", "new_value": "<PERSON>"}}, "<CODE>"),
        (None, "<CODE>"),
    ],
)
def test_what_analyze_found_goes_into_anonymize_as_it_is(client, anonymizers, new):
    found = client.post("/analyze", json={"text": TEXT, "language": "en"}).json()
    asked = {"text": TEXT, "analyzer_results": found} | ({"anonymizers": anonymizers} if anonymizers else {})
    answer = client.post("/anonymize", json=asked).json()
    assert answer["text"] == f"<PERSON> drivers license is {new}"
    operator = "mask" if "*" in new else "replace"
    assert answer["items"] == [
        {"operator": operator, "entity_type": "CODE", "start": 28, "end": 28 + len(new), "text": new},
        {"operator": "replace", "entity_type": "PERSON", "start": 0, "end": 8, "text": "<PERSON>"},
    ]


@pytest.mark.parametrize("body", [{"key": "1" * 16, "text": "e6Hn"}, {"text": "e6Hn"}, {}])
def test_nothing_is_decrypted_because_nothing_is_encrypted(client, body):
    assert client.post("/decrypt", json=body).status_code == 404
