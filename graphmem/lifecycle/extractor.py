"""Extractor: reads the turns of an extraction and keeps what they say.

Reading and embedding happen outside the transaction; what is kept is one operation.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from graphmem.errors import GraphmemError, ModelUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.item import Item
from graphmem.gateway.operation import Executed
from graphmem.gateway.preparation import Preparation
from graphmem.gateway.screening import text_refusal
from graphmem.lifecycle import model_engine, rules_engine
from graphmem.lifecycle.buffer import TURN_READ_CHARS
from graphmem.lifecycle.caps import Fact, Sifted, sifted
from graphmem.lifecycle.chunks import chunks_of
from graphmem.lifecycle.closing import ClaimExtraction
from graphmem.lifecycle.entity_matching import Match, match, own_type
from graphmem.lifecycle.fact_keeping import KeepFacts
from graphmem.lifecycle.kinds import kind_of
from graphmem.lifecycle.linking import Linking
from graphmem.lifecycle.plan import Plan, PlannedFact, refusal_code, relations_of, request_of
from graphmem.model.caller import Caller
from graphmem.model.conversation import TurnRole
from graphmem.model.entity import Entity, label_from_key
from graphmem.model.extraction import (
    EngineName,
    Extraction,
    Findings,
    Heard,
    Named,
    Refusal,
    heard,
)
from graphmem.model.policy import LifecycleConfig, Policy
from graphmem.model.space import Space
from graphmem.model.writing import WriteRequest
from graphmem.ports import IdSource, LanguageModel, Vector
from graphmem.recall.intent import intent_of
from graphmem.store.entities import NAMES_MAX, Entities
from graphmem.store.extractions import Extractions, turns_of
from graphmem.store.spaces import SpacePolicies
from graphmem.text.named_things import candidate_names
from graphmem.text.statements import STATEMENT_MAX_CHARS, stated_of, statement_form, statement_hash

log = logging.getLogger(__name__)

_TRIES_MAX, _MODEL_TRIES_MAX = 5, 2  # of an extraction that fails whoever reads it
_RULES_READ_INSTEAD = "model_unavailable"
_GAVE_UP = "gave_up"


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """Reads turns by rules, or by a language model where there is one."""

    gateway: Gateway
    preparation: Preparation
    policies: SpacePolicies
    policy: Policy
    ids: IdSource
    entities: Entities
    extractions: Extractions
    linking: Linking
    model: LanguageModel | None
    claimed_for: timedelta = timedelta(minutes=2)

    def claim(self, extraction: Extraction, *, caller: Caller) -> Extraction | None:
        """Take an extraction that waits, or hold it longer, unless another worker has it."""
        operation = ClaimExtraction(
            extraction=extraction,
            claim=extraction.claim or self.ids.new("claim"),
            claimed_for=self.claimed_for,
        )
        return self.gateway.execute(operation, caller).answer

    def claim_anew(self, extraction: Extraction, *, caller: Caller) -> Extraction | None:
        """Take an extraction that somebody else may have claimed, once that has run out."""
        return self.claim(replace(extraction, claim=""), caller=caller)

    def run(self, extraction: Extraction, *, caller: Caller) -> Executed[Extraction | None]:
        """Read a claimed extraction and keep what its turns say.

        The answer is None where another worker did.

        Raises:
            StoreUnavailable: the database does not answer; the extraction waits for the next.
        """
        space = extraction.space
        turns = turns_of(self.extractions.connection, extraction, chars=TURN_READ_CHARS)
        words = heard(turns, TURN_READ_CHARS)
        try:
            if extraction.tries > _TRIES_MAX:
                return self.keep(extraction, self._given_up(), {}, caller=caller)
            has_users = any(turn.role is TurnRole.USER for turn in words)
            is_fit = extraction.tries <= _MODEL_TRIES_MAX and has_users
            uses_model = self.model is not None and not extraction.is_guarded and is_fit
            plan, vectors = self.plan(
                space, extraction.session, words, caller=caller, uses_model=uses_model
            )
        except GraphmemError as error:
            log.warning("extraction %s waits: %s", extraction.uid, error.code)
            raise
        return self.keep(extraction, plan, vectors, caller=caller)

    def _given_up(self) -> Plan:
        return Plan(engine=EngineName.RULES, sifted=Sifted(degraded=(_GAVE_UP,)))

    def keep(
        self,
        extraction: Extraction,
        plan: Plan,
        vectors: Mapping[int, Sequence[Vector]],
        *,
        caller: Caller,
    ) -> Executed[Extraction | None]:
        """Write what a plan keeps of an extraction; the answer is None where another worker did."""
        operation = KeepFacts(
            extraction=extraction,
            plan=plan,
            policy=self.policy,
            config=self.policies.of(extraction.space).lifecycle,
            relation_uids=[self.ids.new("relation") for _ in plan.relations],
            box_uid=self.ids.new("box"),
            thread_uids=[self.ids.new("thread") for _ in extraction.turns or plan.turns],
            vectors=vectors,
        )
        return self.gateway.execute(operation, caller)

    def plan(
        self,
        space: Space,
        session: str,
        turns: Sequence[Heard],
        *,
        caller: Caller,
        uses_model: bool,
    ) -> tuple[Plan, Mapping[int, Sequence[Vector]]]:
        """What some turns would have written, and the vectors of its memories."""
        policy = self.policies.of(space)
        config = policy.lifecycle
        known = self._known_names(space, turns)
        findings = self._read(turns, known, uses_model=uses_model, joins=config.chunking_enabled)
        left = self._screened(sifted(findings), policy)
        matches = self._matches(space, left, known, config)
        requests, places = self._requests(
            left, turns, matches, space, session, findings.engine, config
        )
        prepared = self.preparation.check(requests, caller)
        ready = self.preparation.embed(prepared)
        items = {item.index: item for item in ready.items}
        refused = {each.index: each.error for each in ready.refused}
        facts, failed = _planned(left.facts, places, items, refused)
        left = replace(left, refused=(*left.refused, *failed))
        linked, degraded = self.linking.linked(
            space, facts, ready.vectors, policy, uses_model=uses_model
        )
        left = replace(left, degraded=(*left.degraded, *degraded))
        plan = Plan(
            engine=findings.engine,
            sifted=left,
            turns=tuple(turn.uid for turn in turns),
            facts=tuple(linked),
            relations=relations_of(left, matches, space),
            matches=matches,
        )
        return plan, ready.vectors

    def _known_names(self, space: Space, turns: Sequence[Heard]) -> list[Entity]:
        """The entities that are there and that users may have named, however they are spelled."""
        text = " ".join(turn.content for turn in turns if turn.role is TurnRole.USER)
        names = candidate_names(text)[: NAMES_MAX * _LOOK_UPS_MAX]
        found = {
            entity.key: entity
            for start in range(0, len(names), NAMES_MAX)
            for entity in self.entities.named(space, names[start : start + NAMES_MAX])
        }
        return list(found.values())

    def _read(
        self,
        turns: Sequence[Heard],
        known: Sequence[Entity],
        *,
        uses_model: bool,
        joins: bool,
    ) -> Findings:
        kinds = {
            name.lower(): own_type(entity.key)
            for entity in known
            for name in (entity.label, *entity.aliases)
        }
        if self.model is None or not uses_model:
            return rules_engine.read(turns, kinds, joins=joins)
        try:
            return model_engine.read(self.model, turns, kinds)
        except ModelUnavailable as error:
            log.warning("rules read the turns instead: %s", error.message)
            findings = rules_engine.read(turns, kinds, joins=joins)
            return replace(findings, degraded=(_RULES_READ_INSTEAD,))

    def _screened(self, left: Sifted, policy: Policy) -> Sifted:
        """What may be stored of the texts that are not facts, which are screened as such."""
        profile = [each for each in left.profile_updates if text_refusal([each], policy) is None]
        questions = [
            each
            for each in left.questions
            if text_refusal([each.question, each.context], policy) is None
        ]
        reflection = left.reflection
        is_refused = reflection is not None and text_refusal([reflection], policy) is not None
        lost = len(left.profile_updates) - len(profile) + len(left.questions) - len(questions)
        refusals = [Refusal(reason="screening_secret")] * (lost + is_refused)
        labels = [each for each in left.relationships if text_refusal([each.label], policy) is None]
        return replace(
            left,
            profile_updates=tuple(profile),
            questions=tuple(questions),
            reflection=None if is_refused else reflection,
            relationships=tuple(labels),
            refused=(*left.refused, *refusals),
        )

    def _matches(
        self, space: Space, left: Sifted, known: Sequence[Entity], config: LifecycleConfig
    ) -> dict[Named, Match]:
        """The entities that the names of what is kept mean."""
        overrides = self.policy.entities.overrides
        unknown = [each.name for each in left.entities]
        there = {each.key: each for each in known}
        there |= {each.key: each for each in self.entities.named(space, unknown)}
        found: dict[Named, Match] = {}
        for each in left.entities:
            near = self._near(space, each) if config.entity_near else []
            all_known = [*there.values(), *(one for one in near if one.key not in there)]
            matched = match(each, all_known, overrides, is_near=config.entity_near)
            if matched:
                found[each] = matched
                there.setdefault(matched.ref.key, _entity(matched, space))
        return found

    def _near(self, space: Space, named: Named) -> Sequence[Entity]:
        """Entities whose names are near a name."""
        page = self.entities.search(
            space.readable_with_it(), named.name, types=[], limit=_NEAR_MAX, after=None
        )
        return page.items

    def _requests(
        self,
        left: Sifted,
        turns: Sequence[Heard],
        matches: Mapping[Named, Match],
        space: Space,
        session: str,
        engine: EngineName,
        config: LifecycleConfig,
    ) -> tuple[list[WriteRequest], list[list[int]]]:
        """The requests of all facts with their parts, and for each fact the numbers of its own."""
        by_uid = {turn.uid: turn for turn in turns}
        requests: list[WriteRequest] = []
        places: list[list[int]] = []
        for fact in left.facts:
            own: list[WriteRequest] = []
            if fact.refusal is None:
                said = [by_uid[uid] for uid in fact.turns if uid in by_uid]
                intent = _intent(fact.content) if config.intent_routing_enabled else None
                is_told_apart = config.episode_note_mode_enabled
                kind = kind_of(fact.content, fact.category, fact.tags) if is_told_apart else None
                whole = request_of(
                    fact,
                    said,
                    matches,
                    space=space,
                    session=session,
                    engine=engine,
                    uid=self.ids.new("memory"),
                    repeats=not config.fact_deduplication_enabled,
                    intent=intent,
                    kind=kind,
                )
                parts = chunks_of(fact.content, config) if config.chunking_enabled else ()
                own = [whole, *(self._part(whole, part) for part in parts)]
            places.append(list(range(len(requests), len(requests) + len(own))))
            requests += own
        return requests, places

    def _part(self, whole: WriteRequest, content: str) -> WriteRequest:
        return replace(whole, content=content, proposed_uid=self.ids.new("memory"))


_NEAR_MAX = 20
_LOOK_UPS_MAX = 8


def _entity(matched: Match, space: Space) -> Entity:
    """An entity that this extraction names, for the names behind it."""
    key = matched.ref.key
    label = matched.ref.label or label_from_key(key)
    return Entity(key=key, space=space.without_persona.key, label=label)


def _intent(content: str) -> dict[str, object]:
    """What a fact is after, as it is kept; what its words do not tell is left out."""
    intent = intent_of(content)
    values: dict[str, Any] = {
        "goal": intent.goal.value if intent.goal else None,
        "action": intent.action.value if intent.action else None,
        "entity_types": sorted(area.value for area in intent.areas) or None,
    }
    return {name: value for name, value in values.items() if value}


def _planned(
    facts: Sequence[Fact],
    places: Sequence[Sequence[int]],
    items: Mapping[int, Item],
    errors: Mapping[int, GraphmemError | None],
) -> tuple[list[PlannedFact], list[Refusal]]:
    """The facts with their items; those that may not be stored are refused."""
    planned: list[PlannedFact] = []
    refused: list[Refusal] = []
    for fact, numbers in zip(facts, places, strict=True):
        own = [items[number] for number in numbers if number in items]
        whole = items.get(numbers[0]) if numbers else None
        if whole is None:
            if numbers:
                reason = refusal_code(errors.get(numbers[0]))
                refused.append(Refusal(reason=reason, turn=next(iter(fact.turns), None)))
            planned.append(PlannedFact(fact=fact, item=None))
            continue
        content = whole.request.content
        is_known = len(content) <= STATEMENT_MAX_CHARS and statement_form(content)
        planned.append(
            PlannedFact(
                fact=fact,
                item=whole,
                statement=statement_hash(content) if is_known else "",
                asserts=stated_of(content, whole.request.actor),
                parts=tuple(own[1:]),
            )
        )
    return planned, refused
