"""The planner: how much a cue deserves to recall, read from its words (003, Recall)."""

import re
from enum import StrEnum

from graphmem.model.policy import PlanPolicy
from graphmem.text.phrases import says, spoken


class Plan(StrEnum):
    """How much a recall brings back; ``graph_mode`` also follows edges."""

    NO_RECALL = "no_recall"
    MINIMAL = "minimal"
    FULL = "full"
    GRAPH_MODE = "graph_mode"


_COURSE_OF_EVENTS = (
    "timeline",
    "sequence",
    "history",
    "what happened",
    "chain of events",
    "root cause",
)
_ACKNOWLEDGEMENTS = frozenset(
    {
        *("ok", "okay", "kk", "thanks", "thx", "got it", "sounds good"),
        *("yep", "yes", "nope", "no", "done", "cool", "works"),
    }
)
_THE_PAST = (
    *("previous", "earlier", "remember", "last time", "did we", "what did we decide", "context"),
    *("summarize", "summary", "recap", "key points", "decision"),
)
_TRAILING_SYMBOLS = re.compile(r"[\W_]+$")
_QUESTIONS = frozenset({"what", "why", "how", "when", "where", "who", "which"})
_COMMANDS = frozenset(
    {
        *("check", "reload", "restart", "run", "verify", "show", "status", "sync", "update"),
        *("open", "close", "set", "enable", "disable", "fix", "patch"),
    }
)


def plan(query: str, policy: PlanPolicy) -> Plan:
    """The plan for a cue: the first rule that fits decides, on the text without outer blanks."""
    text = query.strip()
    said = spoken(text)
    first = next(iter(said.split()), "")
    if not text:
        return Plan.NO_RECALL
    if says(said, _COURSE_OF_EVENTS):
        return Plan.GRAPH_MODE
    if len(text) <= policy.acknowledgement_max_chars and _acknowledges(text):
        return Plan.NO_RECALL
    if says(said, _THE_PAST) or text.endswith("?") or first in _QUESTIONS:
        return Plan.FULL
    if len(text) <= policy.command_max_chars and first in _COMMANDS:
        return Plan.MINIMAL
    return Plan.FULL


def plan_limit(chosen: Plan, policy: PlanPolicy) -> int:
    """The most memories that a plan brings back."""
    if chosen is Plan.NO_RECALL:
        return 0
    return policy.minimal_limit if chosen is Plan.MINIMAL else policy.full_limit


def _acknowledges(text: str) -> bool:
    return spoken(_TRAILING_SYMBOLS.sub("", text)).strip() in _ACKNOWLEDGEMENTS
