"""Career: what writes, states and statuses of a corpus cost beside plain memories, and its size."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.client import Client, UnexpectedAnswerError
from benchmarks.corpus import RandomVectors, load_corpus
from benchmarks.floors import in_this_process
from benchmarks.metrics import percentile
from benchmarks.service import running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem

_ITEMS = 60
_REVISIONS = 100  # each with one other line
_WARM_UPS, _FIRST_WARM_UPS = 20, 2
_FIRST_PUSHES = 7
_LINE_CHARS = 120
_DIMENSIONS = 384
_OWNER = "ada"
# what a repository keeps of its revisions: all properties of commits, documents and their relations
_STORED = """
MATCH (n) WHERE n.space ENDS WITH $space AND (n:CorpusCommit OR n:CorpusDocument)
OPTIONAL MATCH (n)-[h:HOLDS]->()
WITH n, collect(properties(h)) AS relations
RETURN properties(n) AS node, relations
"""

Times = dict[str, list[float]]


def run_career(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure all of it, and print a table."""
    texts = load_corpus(data, 10_000).texts
    lines = list(dict.fromkeys(text[:_LINE_CHARS].strip() for text in texts))
    times: Times = {}
    with running_service(heap="1g", pagecache="512m") as service, service.target.client() as client:
        career = _Career(client, lines, times)
        career.begin(_OWNER)
        career.push(_OWNER, "the first of many")
        with in_this_process(service) as graphmem:
            first = _stored_bytes(graphmem, _OWNER)
        career.revise(_OWNER, _REVISIONS)
        with in_this_process(service) as graphmem:
            last = _stored_bytes(graphmem, _OWNER)
        career.first_pushes(_FIRST_PUSHES)
    figures = _ratios(times) | {
        "kB of the first revision": first / 1_000,
        f"kB with {_REVISIONS} more": last / 1_000,
        f"{_REVISIONS} more beside the first": last / first,
    }
    rows = [[name, f"{value:,.2f}"] for name, value in figures.items()]
    show_table(console, "Career corpora (ms at the median)", ["what", "value"], rows)
    return figures


def _ratios(times: Times) -> dict[str, float]:
    """The medians, and each beside its floor."""
    p50 = {
        name: percentile(each[_FIRST_WARM_UPS if len(each) <= _FIRST_PUSHES else _WARM_UPS :], 0.5)
        for name, each in times.items()
        if len(each) > 1
    }
    return p50 | {
        "push beside an add": p50["push"] / p50["add"],
        "state beside a memory": p50["state"] / p50["memory"],
        "status beside a memory": p50["status"] / p50["memory"],
        "status asked for beside a memory": p50["status asked for"] / p50["memory"],
        "first push beside a batch add": p50["first push"] / p50["batch add"],
    }


class _Career:
    """A client that keeps corpora whose bullets are some lines, and notes how long that takes."""

    def __init__(self, client: Client, lines: Sequence[str], times: Times) -> None:
        self._client = client
        self._lines = iter(lines)
        self._times = times
        self._items = [self._experience(number) for number in range(_ITEMS)]

    def begin(self, owner: str) -> None:
        """Let an owner have a draft of sixty experiences, and approve it."""
        self._client.post(f"/v1/corpora/{owner}/bootstrap", {"turn": owner})
        self._client.call("PATCH", f"/v1/corpora/{owner}/draft", self._corpus())
        sections = self._client.call("GET", f"/v1/corpora/{owner}/draft").body["sections"]
        for section, shown in sections.items():
            self._approve(owner, section, shown["content_sha256"])

    def push(self, owner: str, what: str) -> None:
        """Push the draft."""
        pushed = self._timed(what, "POST", f"/v1/corpora/{owner}/push", {})
        if not (pushed["pushed"] and pushed["persisted"] and pushed["verify_ok"]):
            message = f"The push of {owner} was answered {pushed}"
            raise UnexpectedAnswerError(message)

    def revise(self, owner: str, times: int) -> None:
        """Push one other line again and again, with the floors in turn."""
        added = self._add(next(self._lines))
        for number in range(times):
            line = next(self._lines)
            self._change(owner, number % _ITEMS, line)
            steps = [
                lambda line=line: self._timed(
                    "add", "POST", "/v1/memories", {"space": "user:adds", "content": line}
                ),
                lambda: self.push(owner, "push"),
            ]
            for step in steps if number % 2 else steps[::-1]:
                step()
            self._read(owner, added)

    def _read(self, owner: str, memory: str) -> None:
        """States and statuses in turn with a memory."""
        path, audience = f"/v1/corpora/{owner}", {"audience": "reader"}
        asked = {"audience": "asker", "intent": "intent_memory_status"}
        self._timed("memory", "GET", f"/v1/memories/{memory}?space=user:adds")
        self._timed("state", "GET", path)
        self._client.post(f"{path}/status", audience)  # tells of the push, once
        self._timed("status", "POST", f"{path}/status", audience)
        self._timed("memory", "GET", f"/v1/memories/{memory}?space=user:adds")
        self._timed("status asked for", "POST", f"{path}/status", asked)

    def first_pushes(self, times: int) -> None:
        """First pushes of sixty documents in turn with batch adds of as many memories."""
        vectors = RandomVectors(_DIMENSIONS)
        for number in range(times):
            owner = f"owner{number}"
            self.begin(owner)
            items = [
                {
                    "space": "user:adds",
                    "content": f"{next(self._lines)} ({number}, {each})",
                    "embedding": vectors.of(number * 1_000 + each),
                }
                for each in range(self._memories())
            ]
            steps = [
                lambda items=items: self._timed(
                    "batch add", "POST", "/v1/memories/batch", {"items": items}
                ),
                lambda owner=owner: self.push(owner, "first push"),
            ]
            for step in steps if number % 2 else steps[::-1]:
                step()

    def _memories(self) -> int:
        """How many memories a corpus has."""
        path = "/v1/memories?space=corpus:ada&status=active&limit=1"
        total: int = self._client.call("GET", path).body["total"]
        return total

    def _add(self, line: str) -> str:
        body = {"space": "user:adds", "content": line}
        uid: str = self._client.post("/v1/memories", body)["memory"]["uid"]
        return uid

    def _change(self, owner: str, number: int, line: str) -> None:
        """Let an experience of the draft say another line, and approve it."""
        item = self._items[number]
        item["bullets"][0] = line
        path = f"/v1/corpora/{owner}/draft"
        shown = self._client.call("PUT", f"{path}/experience", item).body["sections"]["experience"]
        self._approve(owner, "experience", shown["content_sha256"])

    def _approve(self, owner: str, section: str, shown: str) -> None:
        body = {
            "section": section,
            "approved": True,
            "basis": "current_chat",
            "content_sha256": shown,
        }
        self._client.post(f"/v1/corpora/{owner}/approvals", body)

    def _timed(self, what: str, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """The body of a call that must go well; its milliseconds are noted."""
        start = time.perf_counter()
        answer = self._client.call(method, path, body)
        self._times.setdefault(what, []).append((time.perf_counter() - start) * 1_000)
        if answer.status not in {200, 201}:
            message = f"{method} {path} was answered {answer.status}: {str(answer.body)[:500]}"
            raise UnexpectedAnswerError(message)
        return answer.body

    def _corpus(self) -> Mapping[str, Any]:
        return {
            "schema_version": "1.0.0",
            "profile": {"full_name": "Ada Lovelace", "location": "London"},
            "experience": self._items,
            "projects": [],
            "skills": {
                "technical": ["Python", "Cypher"],
                "platforms": ["Linux"],
                "methods": [],
                "domains": ["Energy"],
            },
            "certifications": [],
            "education": [],
        }

    def _experience(self, number: int) -> dict[str, Any]:
        return {
            "id": f"exp_{number}",
            "employer": f"Works {number % 20}",
            "title": f"Engineer of part {number}",
            "start_date": f"{1960 + number}-02",
            "end_date": f"{1961 + number}-03",
            "location": "London",
            "bullets": [next(self._lines), next(self._lines), next(self._lines)],
            "tools": ["Neo4j", "Python"],
            "outcomes": [next(self._lines)],
            "domain_tags": ["energy"],
        }


def _stored_bytes(graphmem: Graphmem, owner: str) -> int:
    """The bytes of all that is kept of the revisions of an owner."""
    rows = graphmem.connection.run_statement(_STORED, space=f"/corpus:{owner}")
    return sum(_size(kept) for row in rows for kept in (row["node"], *row["relations"]))


def _size(properties: Mapping[str, Any]) -> int:
    return sum(_bytes(value) for value in properties.values())


def _bytes(value: object) -> int:
    if isinstance(value, bytes | bytearray):
        return len(value)
    return len(value.encode()) if isinstance(value, str) else 8
