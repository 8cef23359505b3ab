import re

import pytest

from api.errors import STATUSES, status_of
from graphmem import errors
from graphmem.errors import GraphmemError


def test_the_openapi_document_covers_every_route_with_an_answer(api):
    document = api.get("/openapi.json").get_json()

    assert "3.1.0" == document["openapi"]
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for rule in api.client.application.url_map.iter_rules()
        if not rule.rule.startswith(("/docs", "/openapi", "/browser"))
    }
    assert rules == set(document["paths"])
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in {"get", "post", "put", "delete", "patch"}:
                assert operation["summary"], path
                parameters = [
                    *operations.get("parameters", ()),
                    *operation.get("parameters", ()),
                ]
                declared = {each["name"] for each in parameters if each["in"] == "path"}
                assert set(re.findall(r"{(\w+)}", path)) == declared, path
                answers = [code for code in operation["responses"] if code.startswith("2")]
                assert answers, path
                assert (
                    operation["responses"][answers[0]].get("content")
                    or answers == ["204"]
                    or path == "/metrics"
                )


def test_real_answers_have_exactly_the_documented_fields(api):
    document = api.get("/openapi.json").get_json()
    memory = api.post("/v1/memories", {"space": "user:ada", "content": "A."}).get_json()["memory"]
    recall = api.post(
        "/v1/recall", {"spaces": ["user:ada"], "query": "A", "explain": True}
    ).get_json()

    schemas = document["components"]["schemas"]
    assert set(schemas["MemoryAnswer"]["properties"]) == set(memory)
    assert set(schemas["SourceAnswer"]["properties"]) == set(memory["source"])
    assert set(schemas["RecallAnswer"]["properties"]) == set(recall)
    assert set(schemas["RecallItemAnswer"]["properties"]) == set(recall["items"][0])
    assert set(schemas["ErrorDetail"]["properties"]) >= set(api.get("/nope").get_json()["error"])


def test_the_docs_page_asks_no_other_host(api):
    page = api.get("/docs/").get_data(as_text=True)

    assert "swagger" in page.lower()
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)


@pytest.mark.parametrize(
    "path",
    [
        "/health/live",
        "/health/ready",
        "/version",
        "/openapi.json",
        "/docs/",
        "/metrics",
        "/browser/guide.html",
        "/browser/graphmem.grass",
    ],
)
def test_these_need_no_key(api, path):
    assert 200 == api.client.get(path).status_code


def test_metrics_are_closed_to_other_machines(api):
    answer = api.client.get("/metrics", environ_base={"REMOTE_ADDR": "10.0.0.9"})

    assert 401 == answer.status_code


def test_metrics_count_requests_and_outcomes(api):
    def created():
        text = api.get("/metrics").get_data(as_text=True)
        counted = re.search(r'graphmem_writes_total\{outcome="created"\} (\S+)', text)
        return float(counted[1]) if counted else 0.0, text

    before, _ = created()
    api.post("/v1/memories", {"space": "user:ada", "content": "A."})
    after, text = created()

    assert 1 == after - before
    assert 'route="/v1/memories",status="201"' in text


def test_readiness_names_each_part(api):
    api.house.embedder.is_broken = True

    answer = api.get("/health/ready").get_json()

    assert {"neo4j", "schema", "embedder", "keys", "disk"} == set(answer["checks"])
    assert "ok" != answer["checks"]["embedder"]
    assert "ok" == answer["status"]


def test_every_error_has_a_status_of_its_own_line():
    def subclasses(kind):
        return {kind, *(deeper for child in kind.__subclasses__() for deeper in subclasses(child))}

    for kind in subclasses(GraphmemError):
        assert any(base in STATUSES for base in kind.__mro__)
    assert 403 == status_of(errors.ScopeDenied())
    assert 503 == status_of(errors.EmbeddedServerError())
