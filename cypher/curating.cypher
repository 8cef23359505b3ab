// fragment: of_a_type
// True of an active memory that a room keeps in a space.
m.kept_by = $kept_by AND m.space = space AND m.type IN $types AND m.status = 'active'

// fragment: keeps_some
// True of a space s in which a room keeps active memories.
EXISTS {
  WITH s.key AS space
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
  WHERE @of_a_type AND m.created_at > datetime({year: 1})
}

// name: active
// What a room keeps in a space, of a type and for ever, behind a time and key, the oldest first; and whether it stands
// alone, without typed edges.
// parameters: cursor_key, cursor_time, kept_by, limit, space, type
MATCH (m:Memory)
USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
WHERE m.kept_by = $kept_by AND m.space = $space AND m.type = $type AND m.status = 'active'
  AND m.created_at >= $cursor_time
  AND CASE WHEN m.created_at = $cursor_time THEN m.key > $cursor_key ELSE true END // an OR would sort all of them
  AND m.valid_from IS NULL AND m.valid_until IS NULL AND m.expires_at >= @NEVER_MS
WITH m ORDER BY m.kept_by, m.space, m.type, m.status, m.created_at, m.key LIMIT $limit // in the order of the index
RETURN m.key AS key, m.version AS version, m.logical_key AS logical_key, m.content AS content, m.native AS native,
       m.importance AS importance, coalesce(m.pinned, false) AS pinned, toString(m.created_at) AS created_at,
       NOT EXISTS { (m)-[:@EDGE_TYPES]-(:Memory) } AS stands_alone
ORDER BY m.created_at, m.key;

// name: count_new
// How many active memories of a room came to be in some spaces since a time, without what its curator made.
// parameters: kept_by, since, spaces, types
UNWIND $spaces AS space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
WHERE @of_a_type AND m.created_at > $since AND NOT (m.source_type = 'manual' AND m.captured_by = 'system')
RETURN count(m) AS total;

// name: spaces
// One page of the spaces of some kind, by key, and whether a room keeps active memories there.
// parameters: after, kept_by, limit, space_part, types
MATCH (s:Space)
WHERE s.key > $after AND s.key CONTAINS $space_part
WITH s ORDER BY s.key LIMIT $limit
RETURN s.key AS key, @keeps_some AS keeps_some
ORDER BY key;

// name: personas
// The spaces of users with personas that have a state with them, or for which a room keeps active memories, by key.
// parameters: kept_by, space_prefixes, types
UNWIND $space_prefixes AS prefix
CALL (prefix) {
  MATCH (s:Space)
  WHERE s.key STARTS WITH prefix AND @keeps_some
  RETURN s.key AS key
  UNION
  MATCH (t:SessionState)
  WHERE t.key STARTS WITH prefix
  RETURN t.key AS key
}
RETURN key
ORDER BY key;

// name: merged
// The entities of an owner that were merged into others, each with what it is now.
// parameters: limit, space
MATCH (e:Entity)-[:MERGED_INTO*1..20]->(stands:Entity)
WHERE e.space = $space AND e.entity_key > '' AND NOT EXISTS { (stands)-[:MERGED_INTO]->(:Entity) }
RETURN e.entity_key AS name, stands.entity_key AS stands
ORDER BY name
LIMIT $limit;

// name: turns
// The newest turns that some memories are of, and which of their sources said them.
// parameters: limit, space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})-[f:FROM_TURN]->(t:Turn)
WHERE t.status = 'active'
WITH DISTINCT t, f.said_by AS said_by
ORDER BY t.recorded_at DESC, t.key, said_by LIMIT $limit
RETURN t.key AS turn, said_by
ORDER BY turn, said_by;
