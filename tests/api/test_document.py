"""The OpenAPI document holds for every call that it allows, and for what comes back of each."""

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

REQUESTS = max(3, hypothesis.settings().max_examples // 12)  # for each operation
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.hypothesis
def test_every_answer_is_as_documented_and_none_is_a_server_error(api, subtests):
    document = schemathesis.openapi.from_wsgi("/openapi.json", api.client.application)

    for found in document.get_all_operations():
        with subtests.test(found.ok().label):
            check(found.ok(), {"X-API-Key": api.key})


def check(operation, headers):
    """Ask an operation what its document allows, and what it does not."""

    @hypothesis.settings(
        max_examples=REQUESTS, suppress_health_check=list(hypothesis.HealthCheck), deadline=None
    )
    @hypothesis.given(
        case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    )
    def ask(case):
        case.call_and_validate(headers=headers, checks=CHECKS)

    ask()
