// name: expired
// Active memories whose time has passed, in one space or in all other than some.
// parameters: after, limit, now, other_than, space
MATCH (m:Memory)
USING INDEX m:Memory(status, expires_at)
WHERE m.status = 'active' AND m.expires_at <= $now AND m.key > $after AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: decayed
// Active commitments that were last changed before a time.
// parameters: after, before, limit, other_than, space
MATCH (m:Todo)
WHERE m.status = 'active' AND m.updated_at < $before AND m.key > $after AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: archivable
// Active memories from before a time that are unimportant, hardly recalled and of no protected type.
// parameters: after, before, importance, limit, other_than, protected, recalls, space
MATCH (m:Memory)
USING INDEX m:Memory(key)
WHERE m.key > $after AND m.status = 'active' AND m.created_at < $before AND m.importance < $importance
  AND m.recall_count <= $recalls AND NOT m.type IN $protected AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: spaces
// One page of the spaces with active memories, or the named one, each with when it was tended and what is new since.
// parameters: after, limit, space
MATCH (m:Memory)
WHERE m.space > $after AND ($space = '' OR m.space = $space) AND m.status = 'active' AND m.type IS NOT NULL
WITH DISTINCT m.space AS space ORDER BY space LIMIT $limit
OPTIONAL MATCH (s:Space {key: space})
WITH space, s, coalesce(s.curated_at, datetime({epochMillis: 0})) AS since
RETURN space, s.curated_at AS curated_at, coalesce(s.fold_due, false) AS fold_due,
       COUNT { MATCH (m:Memory) WHERE m.space = space AND m.status = 'active' AND m.created_at > since } AS new_memories
ORDER BY space;

// name: mark_curated
// Note that repeats were put away in some spaces.
// parameters: now, spaces
UNWIND $spaces AS space
MERGE (s:Space {key: space})
  ON CREATE SET s.space = space
SET s.curated_at = $now, s.fold_due = true;

// name: mark_folded
// Note that facts were folded in some spaces.
// parameters: spaces
UNWIND $spaces AS space
MATCH (s:Space {key: space})
SET s.fold_due = false;

// name: sayings
// What active memories of some spaces say that the curator may take for repeats, by key.
// parameters: after, limit, spaces, until
MATCH (m:Memory)
USING INDEX m:Memory(key)
WHERE m.key > $after AND m.key < $until AND m.space IN $spaces AND m.status = 'active'
  AND NOT coalesce(m.pinned, false) AND m.type <> 'Todo' AND NOT coalesce(m.context_built, false)
RETURN m.key AS key, m.space AS space, m.type AS type, m.actor AS actor, m.content AS content
ORDER BY key
LIMIT $limit;

// name: foldable
// Entities of a space of which enough facts may be folded: neither pinned nor seeded nor once folded or unfolded.
// parameters: members, people, projects, space
MATCH (m:Memory)
WHERE m.space = $space AND m.status = 'active' AND m.type = 'Fact' AND NOT coalesce(m.pinned, false)
  AND NOT (m.source_type = 'manual' AND m.captured_by IN ['user', 'system'])
  AND NOT EXISTS { (m)<-[:FOLDED_FROM]-(:Memory) } AND NOT EXISTS { (m)-[:FOLDED_FROM]->(:Memory) }
MATCH (m)-[:MENTIONS]->(e:Entity)
WHERE e.type IN $people OR (e.type IN $projects AND m.captured_by = 'extractor')
WITH e, m ORDER BY m.created_at, m.key
WITH e, count(m) AS facts, collect([m.key, m.version, m.content])[0..50] AS found
WHERE facts >= $members
RETURN e.entity_key AS entity_key, e.label AS label, found AS facts
ORDER BY size(facts) DESC, entity_key
LIMIT 100;
