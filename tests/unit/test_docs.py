"""What can be set, asked or go wrong has its entry in the docs."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from api.errors import HTTP_CODES
from graphmem.errors import GraphmemError
from graphmem.intake.manifests import RejectionCode
from graphmem.model.orchestrator_config import KEYS
from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import policy_values
from graphmem.settings import SHORT_NAMES, Settings

DOCS = Path(__file__).parents[2] / "docs"
POLICY = (DOCS / "policy.md").read_text("utf-8")
OPERATIONS = (DOCS / "operations.md").read_text("utf-8")
ORCHESTRATORS = (DOCS / "orchestrators.md").read_text("utf-8")
HTTP_API = (DOCS / "http-api.md").read_text("utf-8")
INSIDE = {
    "internal",
    "settings_invalid",
    "embedded_server",
    "timeout",
    "too_many_requests",
}  # no answer has them


def codes():
    def below(kind):
        return {kind.code, *(code for child in kind.__subclasses__() for code in below(child))}

    return sorted((below(GraphmemError) | {code for code, _ in HTTP_CODES.values()}) - INSIDE)


ELSEWHERE = {
    "policy",
    "memory",
    "orchestrators",
    "places",
}  # in pages of their own; the last is no setting


@pytest.mark.parametrize(
    "section", [each.name for each in fields(Settings) if each.name not in ELSEWHERE]
)
def test_every_setting_is_documented(section):
    for setting in fields(type(getattr(Settings(), section))):
        assert f"{section}.{setting.name}" in OPERATIONS


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_memory_key_is_documented(key):
    assert f"| `memory.{key}` |" in ORCHESTRATORS


@pytest.mark.parametrize("code", list(RejectionCode))
def test_every_rejection_code_is_documented(code):
    assert f"| `{code}` |" in ORCHESTRATORS


@pytest.mark.parametrize("path", sorted(policy_values(Policy())))
def test_every_number_of_the_policy_is_documented(path):
    part, _, name = path.rpartition(".")
    assert re.search(rf"^\| {re.escape(part)} \|.*`{name}`", POLICY, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_every_short_name_is_documented(name):
    assert (
        f"GRAPHMEM_{name}" in OPERATIONS
        or f"_{name.removeprefix('NEO4J')}".replace("__", "_") in OPERATIONS
    )


@pytest.mark.parametrize("code", codes())
def test_every_error_code_is_documented(code):
    assert f"`{code}`" in HTTP_API


def test_every_decision_has_its_three_parts():
    for record in (DOCS / "decisions").glob("*.md"):
        text = record.read_text("utf-8")
        assert all(
            part in text for part in ("**Context.**", "**Decision.**", "**Consequences.**")
        ), record
