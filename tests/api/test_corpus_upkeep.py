"""A hundred days of all jobs with every switch on change nothing of a career corpus (000)."""

from dataclasses import replace

import pytest
from careers import PATH, approved, pushed, ready, sent, state
from conftest import house_over
from corpora import a_corpus, a_project, an_experience

from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import policy_values

SWITCHES = {
    path: True
    for path, value in policy_values(Policy()).items()
    if isinstance(value, bool) and path.startswith(("upkeep.", "lifecycle.", "companion."))
}
MEMORIES = """
MATCH (m:Memory {kept_by: 'corpus'}) WHERE m.space STARTS WITH $tenant
RETURN properties(m), COLLECT {
  MATCH (m)-[e]-(o) WHERE NOT o:Revision
  RETURN type(e) + ' ' + coalesce(o.key, '') AS edge ORDER BY edge
} ORDER BY m.key
"""
OTHERS = ("Ada works at Acme.", "Ada works at Bell.", "Ada works for Acme.", "Ship the Apollo.")


@pytest.fixture
def awake(connection, settings, api_over):
    """The API over a service with every switch on for all spaces."""
    with house_over(connection, replace(settings, policy={**settings.policy, **SWITCHES})) as house:
        yield api_over(house)


def test_a_hundred_days_of_all_jobs_change_no_memory_of_a_corpus(awake):
    house = awake.house
    twins = [an_experience(f"exp_{n}", bullets=["Built the engine"] * 2) for n in range(4)]
    ready(awake, a_corpus(experience=twins))
    sent(awake, "PUT", f"{PATH}/draft/projects", a_project(role="owner"), 200)
    approved(awake, "projects")
    pushed(awake)
    for content in OTHERS:
        body = {"space": "user:ada", "content": content, "confidence": 0.3, "importance": 5}
        assert awake.post("/v1/memories", body).status_code in (200, 201)
    house.graphmem.runner.run("embed_pending")
    before = house.rows(MEMORIES)
    jobs = [job.name for job in house.graphmem.runner.states()]

    for _ in range(20):
        house.clock.advance(days=5)
        statuses = {house.graphmem.runner.run(job).status for job in jobs}
        assert {"succeeded"} == statuses

    assert 10 < len(before)
    assert before == house.rows(MEMORIES)
    assert "CORPUS_READY" == state(awake)
