// name: by_key
// Memories by their keys, each of which names a space.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
RETURN m {
  .*, search_text: null, search_context: null, space_token: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at)
} AS m,
       COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
ORDER BY m.key;

// name: by_uid
// Memories of one uid in the spaces of a tenant; the prefix ends the tenant's name.
// parameters: space_prefix, uid
MATCH (m:Memory {uid: $uid})
WHERE m.space STARTS WITH $space_prefix
RETURN m {
  .*, search_text: null, search_context: null, space_token: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at)
} AS m,
       COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
ORDER BY m.key
LIMIT 1000;

// name: list
// One page of the memories of some spaces, newest first, behind the place that the last page ended at.
// parameters: conversation_id, created_after, created_before, cursor_key, cursor_time, entity, limit, spaces, status, tags, types
UNWIND $spaces AS space
CALL (space) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.status = $status AND m.created_at <= $cursor_time
    AND (m.created_at < $cursor_time OR m.key < $cursor_key)
    AND m.created_at > $created_after AND m.created_at < $created_before
    AND (size($types) = 0 OR m.type IN $types)
    AND ($conversation_id = '' OR m.conversation_id = $conversation_id)
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: $entity}) })
  RETURN m
  ORDER BY m.created_at DESC, m.key DESC
  LIMIT $limit
}
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
RETURN m {
  .*, search_text: null, search_context: null, space_token: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at)
} AS m,
       COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
ORDER BY m.created_at DESC, m.key DESC;

// name: count
// How many memories of some spaces a list would show on all its pages.
// parameters: conversation_id, created_after, created_before, entity, spaces, status, tags, types
MATCH (m:Memory)
WHERE m.space IN $spaces AND m.status = $status
  AND m.created_at > $created_after AND m.created_at < $created_before
  AND (size($types) = 0 OR m.type IN $types)
  AND ($conversation_id = '' OR m.conversation_id = $conversation_id)
  AND all(tag IN $tags WHERE tag IN m.tags)
  AND ($entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: $entity}) })
RETURN count(*) AS total;

// name: expired
// Keys of active memories whose time has passed, longest ago first, in any space or in one.
// parameters: limit, now, space
MATCH (m:Memory)
WHERE m.status = 'active' AND m.expires_at <= $now AND ($space = '' OR m.space = $space)
RETURN m.key AS key
ORDER BY m.expires_at, m.key
LIMIT $limit;

// name: pending
// Memories that wait for their vectors, oldest first, in any space or in one.
// parameters: limit, space
MATCH (m:EmbedPending)
WHERE m.space >= $space AND ($space = '' OR m.space = $space)
RETURN m.key AS key, m.content AS content, m.actor AS actor, m.version AS version
ORDER BY m.created_at, m.key
LIMIT $limit;

// name: pending_count
// How many memories wait for their vectors, in any space or in one.
// parameters: space
MATCH (m:EmbedPending)
WHERE m.space >= $space AND ($space = '' OR m.space = $space)
RETURN count(*) AS pending;
