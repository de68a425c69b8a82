"""Whatever is sent, drawn from the service's own OpenAPI document and beside it: an answer that the document names, no 5xx."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import load_all_checks
from service import listening

load_all_checks()


@pytest.fixture(scope="module")
def any_request():
    with listening(text_only=False) as url:
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")


OPERATIONS = (
    "/v1/detect",
    "/v1/replace",
    "/v1/budget/rr",
    "/v1/budget/edp",
    "/v1/anonymise",
    "/v1/mask",
    "/vpc",
    "/analyze",
    "/anonymize",
    "/process",
)


@pytest.mark.slow
@pytest.mark.parametrize("path", OPERATIONS)
def test_no_request_breaks_the_service(any_request, path):
    operation = any_request[path]["POST"]

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=operation.as_strategy())
    def drawn(case):
        answer = case.call()
        case.validate_response(answer, checks=(schemathesis.checks.CHECKS.get_one("not_a_server_error"),))

    drawn()
