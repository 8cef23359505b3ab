// fragment: no_episode
// True of a memory whose words jobs may change: it does not tell what happened once.
coalesce(m.memory_kind, '') <> 'episode'

// fragment: tended
// True of a memory that jobs may put away, in spaces of some kinds but some and what is below them.
m.kept_by IS NULL AND NOT coalesce(m.pinned, false)
AND any(kind IN $kinds WHERE m.space CONTAINS '/' + kind + ':') AND NOT m.space IN $other_spaces
AND NOT split(m.space, '/')[0] + '/' + split(m.space, '/')[1] IN $other_spaces

// name: expired
// Active memories whose time has passed, in all spaces other than some.
// parameters: after, kinds, limit, now, other_spaces
MATCH (m:Memory)
USING INDEX SEEK m:Memory(status, expires_at)
WHERE m.status = 'active' AND m.expires_at <= $now AND m.key > $after AND @tended
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: expired_of_space
// The same in one space.
// parameters: after, kinds, limit, now, other_spaces, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.key > $after AND m.status = 'active' AND m.expires_at <= $now AND @tended
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: decayed
// Active commitments that were last changed before a time, in all spaces other than some.
// parameters: after, before, kinds, limit, other_spaces
MATCH (m:Todo)
USING INDEX SEEK m:Todo(status, updated_at)
WHERE m.status = 'active' AND m.updated_at < $before AND m.key > $after AND @tended
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: decayed_of_space
// The same in one space.
// parameters: after, before, kinds, limit, other_spaces, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.key > $after AND m:Todo AND m.status = 'active' AND m.updated_at < $before AND @tended
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// fragment: unneeded
// True of an active memory from before a time that is unimportant, hardly recalled and of no protected category, or
// without a category of no protected type.
m.status = 'active' AND m.created_at < $before AND m.importance < $importance AND m.recall_count <= $recalls
AND NOT CASE WHEN m.native_category IN $known THEN m.native_category IN $categories ELSE m.type IN $protected END
AND @tended

// name: archivable
// Those memories in all spaces other than some.
// parameters: after, before, categories, importance, kinds, known, limit, other_spaces, protected, recalls
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND @unneeded
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: archivable_of_space
// The same in one space.
// parameters: after, before, categories, importance, kinds, known, limit, other_spaces, protected, recalls, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.key > $after AND @unneeded
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: spaces
// One page of the spaces, or the named one, each with its active memories, when it was tended and what is new since:
// where turns are extracted, extractions that kept something count as writes.
// parameters: after, limit, space
MATCH (s:Space)
WHERE s.key >= $space AND s.key <= CASE WHEN $space = '' THEN '\uFFFF' ELSE $space END AND s.key > $after
WITH s ORDER BY s.key LIMIT $limit
WITH s.key AS space, s, coalesce(s.curated_at, datetime({epochMillis: 0})) AS curated,
     coalesce(s.consolidated_at, datetime({epochMillis: 0})) AS consolidated
CALL (space, curated, consolidated) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.status = 'active' AND m.created_at > datetime({year: 1})
  RETURN count(*) AS memories, count(CASE WHEN m.created_at > curated THEN 1 END) AS new_memories,
         count(DISTINCT CASE WHEN m.created_at > consolidated THEN m.created_at END) AS writes
}
CALL (space) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(space, unchecked)
  WHERE m.space = space AND m.unchecked = true
  RETURN count(*) AS unchecked
}
CALL (space, consolidated) {
  MATCH (x:Extraction)
  USING INDEX SEEK x:Extraction(space, at)
  WHERE x.space = space AND x.at > consolidated AND NOT x:EmptyExtraction
  RETURN count(*) AS extractions
}
WITH *, EXISTS { MATCH (x:Extraction) WHERE x.space = space AND x.decided_at > datetime({year: 1}) } AS has_turns
RETURN space, s.curated_at AS curated_at, coalesce(s.fold_due, false) AS fold_due, s.consolidated_at AS consolidated_at,
       coalesce(s.check_due, false) AS check_due, s.checked_at AS checked_at, memories, new_memories,
       CASE WHEN has_turns THEN extractions ELSE writes END AS writes, unchecked
ORDER BY space;

// name: personas
// The spaces below some beginnings of their keys, by key.
// parameters: space_prefixes
UNWIND $space_prefixes AS prefix
MATCH (s:Space)
WHERE s.key STARTS WITH prefix
RETURN DISTINCT s.key AS space
ORDER BY space;

// name: mark_spaces
// Note when jobs tended some spaces, and what is due in them.
// parameters: marks, spaces
UNWIND $spaces AS space
MERGE (s:Space {key: space})
  ON CREATE SET s.space = space
SET s += $marks;

// name: dedupe_candidates
// What active memories of some spaces say that the curator may take for repeats, by key.
// parameters: after, limit, spaces, until
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.key < $until AND m.space IN $spaces AND m.status = 'active'
  AND m.kept_by IS NULL AND NOT coalesce(m.pinned, false) AND m.type <> 'Todo' AND NOT coalesce(m.context_built, false)
  AND @no_episode
RETURN m.key AS key, m.space AS space, m.type AS type, m.actor AS actor, m.logical_key AS logical_key,
       m.content AS content
ORDER BY key
LIMIT $limit;

// fragment: made_uid
// True of a memory whose uid nobody chose.
(coalesce(m.claims_content, true) OR m.uid =~ '@MADE_UID')

// name: foldable
// Entities of a space of which one actor said enough facts that may be folded: neither pinned nor seeded nor once
// folded or unfolded, without what a fold could not keep (an interval, a key, a uid of its caller, typed edges), and no
// words of a conversation as they were said.
// parameters: members, people, projects, space
MATCH (m:Memory)
WHERE m.space = $space AND m.status = 'active' AND m.type = 'Fact' AND m.kept_by IS NULL
  AND NOT coalesce(m.pinned, false) AND @no_episode
  AND NOT (m.source_type = 'manual' AND m.captured_by IN ['user', 'system'])
  AND NOT EXISTS { (m)<-[:FOLDED_FROM]-(:Memory) } AND NOT EXISTS { (m)-[:FOLDED_FROM]->(:Memory) }
  AND m.expires_at >= @NEVER_MS AND m.valid_from IS NULL AND m.valid_until IS NULL AND m.logical_key IS NULL
  AND @made_uid AND (m.conversation_id IS NULL OR m.captured_by = 'extractor')
  AND NOT EXISTS { (m)-[:@EDGE_TYPES]-(:Memory) }
MATCH (m)-[:MENTIONS]->(e:Entity)
WHERE e.type IN $people OR (e.type IN $projects AND m.captured_by = 'extractor')
WITH e, m ORDER BY m.created_at, m.key
WITH e, coalesce(m.actor, '') AS actor, count(m) AS facts, collect([m.key, m.version, m.content])[0..50] AS found
WHERE facts >= $members
RETURN e.entity_key AS entity_key, e.label AS label, found AS facts
ORDER BY size(facts) DESC, entity_key, actor
LIMIT 100;

// name: near
// The newest memories of a space that may be merged, each with the memories whose whole text is nearest to its own.
// parameters: neighbours, newest, now, space
// also in slot: _b
CYPHER 25
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, status, created_at)
WHERE m.space = $space AND m.status = 'active' AND m.created_at > datetime({year: 1})
  AND m.expires_at > $now AND NOT coalesce(m.pinned, false)
  AND m.kept_by IS NULL AND m.type <> 'Todo' AND NOT coalesce(m.context_built, false) AND @no_episode
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $newest
OPTIONAL MATCH (c:Chunk)-[:OF]->(m)
WHERE c.key ENDS WITH '|0' AND c.embedding IS NOT NULL
CALL (m, c) {
  WITH m, c WHERE c IS NOT NULL
  MATCH (o:Chunk)
    SEARCH o IN (
      VECTOR INDEX chunk_embedding FOR c.embedding
      WHERE o.space = $space AND o.status = 'active' AND o.expires_at > $now
      LIMIT $neighbours
    ) SCORE AS s
  WHERE o.key ENDS WITH '|0'
  MATCH (o)-[:OF]->(n:Memory)
  WHERE n <> m AND n.space = $space AND NOT coalesce(n.pinned, false) AND n.type <> 'Todo'
    AND NOT coalesce(n.context_built, false) AND n.kept_by IS NULL AND coalesce(n.memory_kind, '') <> 'episode'
  RETURN collect([n.key, s]) AS found
}
UNWIND CASE WHEN size(found) = 0 THEN [[null, null]] ELSE found END AS pair
RETURN m.key AS key, pair[0] AS other, pair[1] AS score
ORDER BY m.created_at DESC, key DESC, score DESC, other;

// name: conflicting
// The newest notes of a space that state a value of something, each with others that state one of the same.
// parameters: newest, others, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, status, created_at)
WHERE m.space = $space AND m.status = 'active' AND m.created_at > datetime({year: 1}) AND m.asserts IS NOT NULL
  AND @no_episode
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $newest
CALL (m) {
  MATCH (o:Memory)
  USING INDEX SEEK o:Memory(space, asserts)
  WHERE o.space = $space AND o.asserts = m.asserts AND o.status = 'active' AND o <> m
    AND coalesce(o.memory_kind, '') <> 'episode'
  RETURN o ORDER BY o.created_at DESC, o.key LIMIT $others
}
WITH collect(m.key) + collect(o.key) AS keys
UNWIND keys AS key
RETURN DISTINCT key
ORDER BY key;

// name: newest_texts
// What the newest active memories of a space say, the newest first.
// parameters: limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, status, created_at)
WHERE m.space = $space AND m.status = 'active' AND m.created_at > datetime({year: 1})
RETURN m.key AS key, m.content AS content
ORDER BY m.created_at DESC, m.key DESC
LIMIT $limit;

// fragment: statement
// What a memory m says, with all names of the entities that it mentions.
m.key AS key, m.version AS version, m.content AS content, m.created_at.epochMillis AS created,
toString(m.valid_from) AS valid_from, toString(m.valid_until) AS valid_until,
COLLECT {
  MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label, e.aliases] ORDER BY e.entity_key
} AS entities

// name: statements
// The active memories of a space that mention entities, by key.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.key > $after AND m.status = 'active' AND m.kept_by IS NULL
  AND EXISTS { (m)-[:MENTIONS]->(:Entity) }
WITH m ORDER BY m.key LIMIT $limit
RETURN @statement
ORDER BY key;

// name: unchecked
// The memories of a space in which contradictions are to be looked for, by key, in their versions.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, unchecked)
WHERE m.space = $space AND m.unchecked = true AND m.key > $after
RETURN m.key AS key, m.version AS version
ORDER BY key
LIMIT $limit;

// name: statements_beside
// Some memories of a space, and the newest others that mention one of their entities, or one that was merged or split
// since a time in the space that owns it.
// parameters: limit, owner, since, space, space_keys
CALL () {
  UNWIND $space_keys AS key
  MATCH (:Memory {key: key})-[:MENTIONS]->(e:Entity)
  RETURN e
UNION
  MATCH (c:EntityChange)
  WHERE c.space = $owner AND c.created_at > datetime({year: 1})
    AND (c.created_at > datetime($since) OR c.undone_at > datetime($since))
  UNWIND [c.from_key, c.into_key] AS key
  MATCH (e:Entity {key: key})
  RETURN e
}
MATCH (m:Memory)-[x:MENTIONS]->(e)
WHERE x.space = $space AND x.status = 'active'
WITH m, m.unchecked IS NOT NULL AS is_new, max(x.created) AS created
ORDER BY is_new DESC, created DESC, m.key LIMIT $limit
WHERE m.space = $space AND m.status = 'active' AND m.kept_by IS NULL
RETURN @statement
ORDER BY key;

// name: mark_memories
// Contradictions were looked for in memories that are still in the version in which they were read, as are those that
// they were found to disagree with.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
WHERE m.version = row.version AND NOT EXISTS {
  UNWIND row.others AS other
  MATCH (o:Memory {key: other[0]})
  WHERE o.version <> other[1]
}
REMOVE m.unchecked;

// name: entities
// The entities of an owner's space that stand for themselves, by key.
// parameters: limit, space
MATCH (e:Entity)
USING INDEX SEEK e:Entity(space, entity_key)
WHERE e.space = $space AND e.entity_key > '' AND NOT EXISTS { (e)-[:MERGED_INTO]->(:Entity) }
RETURN e.entity_key AS entity_key, e.label AS label, e.aliases AS aliases, e.declared AS declared,
       COUNT { (:Memory)-[:MENTIONS]->(e) } AS mentions
ORDER BY entity_key
LIMIT $limit;

// fragment: still_said
// True of an entity summary s all of whose sources hold, and were not changed since it was made.
all(source IN s.sources WHERE EXISTS {
  MATCH (m:Memory {key: source})
  WHERE m.status = 'active' AND m.expires_at > $now AND coalesce(m.valid_until.epochMillis > $now, true)
    AND NOT EXISTS { MATCH (m)-[:HAS_REVISION]->(r:Revision) WHERE r.replaced_at > s.made_at }
})

// name: summarisable
// The entities that more than some active memories of a space mention, with the most important of these.
// parameters: more_than, now, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.status = 'active' AND m.expires_at > $now
MATCH (m)-[:MENTIONS]->(e:Entity)
WITH e, count(m) AS facts
WHERE facts > $more_than
ORDER BY facts DESC, e.entity_key LIMIT 100
CALL (e) {
  MATCH (m:Memory)-[x:MENTIONS]->(e)
  WHERE x.space = $space AND x.status = 'active' AND x.expires > $now
  WITH m, x ORDER BY x.weight DESC, x.created DESC, m.key LIMIT 30
  RETURN collect([m.key, m.content]) AS contents
}
OPTIONAL MATCH (s:EntitySummary {key: $space + '|' + e.entity_key})
RETURN e.entity_key AS entity_key, e.label AS label, facts, contents,
       CASE WHEN @still_said THEN s.facts END AS summarised
ORDER BY facts DESC, entity_key;

// name: save_summary
// Keep what is known of an entity within a space.
// parameters: by, entity, entity_key, facts, key, now, sources, space, text
MATCH (e:Entity {key: $entity})
MERGE (s:EntitySummary {key: $key})
  ON CREATE SET s.space = $space, s.entity_key = $entity_key
MERGE (s)-[:SUMMARISES]->(e)
SET s.text = $text, s.facts = $facts, s.by = $by, s.sources = $sources, s.made_at = $now;

// name: summaries
// What is kept of an entity within some spaces, as long as all that it was made from is current.
// parameters: keys, now, spaces
UNWIND $keys AS key
MATCH (s:EntitySummary {key: key})
WHERE s.space IN $spaces AND @still_said
RETURN s.space AS space, s.text AS text, s.facts AS facts, s.by AS by, s.made_at AS made_at
ORDER BY space;

// name: small_memories
// Memories of a space that may be summarised, oldest first: not among the newest, unimportant, about no entity.
// parameters: importance, keep_newest, limit, protected, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, status, created_at)
WHERE m.space = $space AND m.status = 'active' AND m.created_at > datetime({year: 1}) AND m.kept_by IS NULL
  AND @no_episode
WITH m ORDER BY m.created_at DESC, m.key DESC SKIP $keep_newest
WHERE m.importance < $importance AND NOT m.type IN $protected AND NOT coalesce(m.pinned, false)
  AND NOT 'correction' IN m.tags AND NOT EXISTS { (m)-[:MENTIONS]->(:Entity) }
  AND m.expires_at >= @NEVER_MS AND m.valid_from IS NULL AND m.valid_until IS NULL AND m.logical_key IS NULL
  AND @made_uid AND NOT EXISTS { (m)-[:CONTRADICTS]-(:Memory) }
  AND NOT EXISTS { (m)-[:UPDATES|FOLDED_FROM|SUMMARY_OF]->(:Memory) }
RETURN m.key AS key, m.version AS version, m.content AS content, toString(m.created_at) AS created_at
ORDER BY m.created_at, key
LIMIT $limit;

// name: save_topics
// Keep the topics of a space instead of the former ones, each with the memories that are most about it.
// parameters: now, space, topics
CALL () {
  MATCH (old:Topic)
  WHERE old.space = $space AND old.rank >= 0 AND NOT old.key IN [topic IN $topics | topic.key]
  DETACH DELETE old
}
UNWIND $topics AS topic
MERGE (t:Topic {key: topic.key})
SET t.space = $space, t.topic = topic.topic, t.score = topic.score, t.memories = topic.memories, t.rank = topic.rank,
  t.made_at = $now
WITH t, topic
CALL (t) {
  MATCH (:Memory)-[former:ABOUT]->(t)
  DELETE former
}
CALL (t, topic) {
  UNWIND range(0, size(topic.examples) - 1) AS place
  MATCH (m:Memory {key: topic.examples[place]})
  CREATE (m)-[:ABOUT {place: place}]->(t)
};

// fragment: shown_topic
// True of a topic of a space that an active memory still is about.
t.space = $space AND t.rank >= 0
AND EXISTS { MATCH (m:Memory)-[:ABOUT]->(t) WHERE m.space = $space AND m.status = 'active' }

// name: topics
// The topics of a space, best first, each with the active memories that are most about it.
// parameters: cursor_key, cursor_rank, limit, space
MATCH (t:Topic)
WHERE @shown_topic AND (t.rank > $cursor_rank OR (t.rank = $cursor_rank AND t.key > $cursor_key))
WITH t ORDER BY t.rank, t.key LIMIT $limit
RETURN t.key AS key, t.rank AS rank, t.topic AS topic, t.score AS score, t.memories AS memories,
       COLLECT {
         MATCH (m:Memory)-[a:ABOUT]->(t) WHERE m.space = $space AND m.status = 'active' RETURN m.uid ORDER BY a.place
       } AS uids
ORDER BY t.rank, t.key;

// name: count_topics
// How many topics a space has.
// parameters: space
MATCH (t:Topic)
WHERE @shown_topic
RETURN count(t) AS total;
