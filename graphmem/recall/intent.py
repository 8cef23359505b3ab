"""Intent: what a text is after, by its words, and how well two intents match (003, Recall)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graphmem.model.policy import LifecyclePolicy
from graphmem.text.phrases import says, spoken


class Goal(StrEnum):
    """What a text wants to reach."""

    STABILIZE = "stabilize"
    RELEASE = "release"
    PLAN = "plan"
    REVIEW = "review"
    CLOSE_DEAL = "close_deal"


class Action(StrEnum):
    """What a text does or asks for."""

    REVIEW = "review"
    PLAN = "plan"
    EXECUTE = "execute"
    SUMMARIZE = "summarize"
    DECIDE = "decide"


class Area(StrEnum):
    """The part of the work that a text is about; 003 calls it an entity type."""

    REPO = "repo"
    OPS = "ops"
    CLIENT = "client"
    AI = "ai"
    DOCS = "docs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """What a text is after; None where its words do not tell."""

    goal: Goal | None = None
    action: Action | None = None
    areas: frozenset[Area] = frozenset()


# the first that a text says is its goal, and its action, so the order counts
_GOALS: Mapping[Goal, tuple[str, ...]] = {
    Goal.STABILIZE: ("debug", "fix", "error", "incident", "outage", "failure"),
    Goal.RELEASE: ("deploy", "release", "ship", "publish"),
    Goal.PLAN: ("plan", "roadmap", "strategy", "design"),
    Goal.REVIEW: ("review", "audit", "security", "hardening"),
    Goal.CLOSE_DEAL: ("sales", "deal", "customer", "client", "prospect"),
}
_ACTIONS: Mapping[Action, tuple[str, ...]] = {
    Action.REVIEW: ("review", "audit", "inspect", "check"),
    Action.PLAN: ("plan", "design", "brainstorm", "spec"),
    Action.EXECUTE: ("implement", "build", "code", "patch", "fix"),
    Action.SUMMARIZE: ("summarize", "recap", "what happened", "timeline"),
    Action.DECIDE: ("decide", "decision", "choose"),
}
# 003 names the areas without their words; these are ours
_AREAS: Mapping[Area, tuple[str, ...]] = {
    Area.REPO: (
        *("repo", "repos", "repository", "repositories", "codebase", "git", "branch", "branches"),
        *("commit", "commits", "pull request", "pull requests", "pr", "prs"),
    ),
    Area.OPS: (
        *(
            "ops",
            "server",
            "servers",
            "cluster",
            "gateway",
            "infrastructure",
            "docker",
            "kubernetes",
        ),
        *("container", "containers", "backup", "backups", "cron", "monitoring", "production"),
    ),
    Area.CLIENT: ("client", "clients", "customer", "customers", "prospect", "prospects"),
    Area.AI: (
        *("ai", "llm", "llms", "gpt", "model", "models", "agent", "agents", "prompt", "prompts"),
        *("embedding", "embeddings"),
    ),
    Area.DOCS: ("doc", "docs", "documentation", "readme", "changelog", "wiki", "manual", "manuals"),
}


def intent_of(text: str) -> Intent:
    """The intent of a text, by whole words."""
    said = spoken(text)
    return Intent(
        goal=next((goal for goal, phrases in _GOALS.items() if says(said, phrases)), None),
        action=next((action for action, phrases in _ACTIONS.items() if says(said, phrases)), None),
        areas=frozenset(area for area, phrases in _AREAS.items() if says(said, phrases)),
    )


def noted_intent(values: Mapping[str, object]) -> Intent:
    """The intent that native values of 003 tell; a word that is none of ours tells nothing."""
    goal, action, areas = (values.get(name) for name in ("goal", "action", "entity_types"))
    named = {str(each) for each in areas} if isinstance(areas, list) else set()
    return Intent(
        goal=next((each for each in Goal if each.value == goal), None),
        action=next((each for each in Action if each.value == action), None),
        areas=frozenset(each for each in Area if each.value in named),
    )


def intent_match(one: Intent, other: Intent, policy: LifecyclePolicy) -> float:
    """How well two intents match, 0 to 1: by goal 0.5, by action 0.3, by shared areas 0.2.

    Areas count as the shared part of the larger set of areas. Two unknown goals or actions are no
    match.
    """
    most = max(len(one.areas), len(other.areas))
    return (
        policy.intent_goal * (one.goal is not None and one.goal is other.goal)
        + policy.intent_action * (one.action is not None and one.action is other.action)
        + policy.intent_areas * (len(one.areas & other.areas) / most if most else 0.0)
    )
