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

// name: known_claims
// Those claims, each of which names a space, that a memory holds.
// parameters: space_keys
UNWIND $space_keys AS claim
MATCH (k:ClaimKey {key: claim})
WHERE EXISTS { (k)-[:CLAIMS]->(:Memory) }
RETURN k.key AS claim
ORDER BY claim;

// name: list
// One page of the memories of some spaces, newest first, behind the place that the last page ended at.
// parameters: begins_by, conversation_id, created_after, created_before, cursor_key, cursor_time, ends_after, entity
// parameters: limit, spaces, statuses, tags, types
UNWIND $spaces AS space
UNWIND $statuses AS status
CALL (space, status) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.status = status AND m.created_at <= $cursor_time
    AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
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
// parameters: begins_by, conversation_id, created_after, created_before, ends_after, entity, spaces, statuses, tags, types
MATCH (m:Memory)
WHERE m.space IN $spaces AND m.status IN $statuses
  AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
  AND m.created_at > $created_after AND m.created_at < $created_before
  AND (size($types) = 0 OR m.type IN $types)
  AND ($conversation_id = '' OR m.conversation_id = $conversation_id)
  AND all(tag IN $tags WHERE tag IN m.tags)
  AND ($entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: $entity}) })
RETURN count(*) AS total;

// name: list_known_at
// The same as far as it was known at a past time: each memory in the version that was in force then.
// parameters: begins_by, conversation_id, created_after, created_before, cursor_key, cursor_time, ends_after, entity
// parameters: known_at, limit, spaces, statuses, tags, types
UNWIND $spaces AS space
UNWIND ['active', 'superseded', 'archived'] AS status
CALL (space, status) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.status = status AND m.created_at <= $cursor_time AND m.created_at <= $known_at
    AND (m.created_at < $cursor_time OR m.key < $cursor_key)
    AND m.created_at > $created_after AND m.created_at < $created_before
    AND (size($types) = 0 OR m.type IN $types)
    AND ($conversation_id = '' OR m.conversation_id = $conversation_id)
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: $entity}) })
  CALL (m) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
    WHERE r.replaced_at > $known_at
    RETURN r ORDER BY r.version LIMIT 1
  }
  WITH m, r, CASE WHEN r IS NULL THEN m.status ELSE r.status END AS then_status,
       CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
       CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until
  WHERE then_status IN $statuses
    AND coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true)
  RETURN m, r
  ORDER BY m.created_at DESC, m.key DESC
  LIMIT $limit
}
WITH m, r ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
RETURN m {
  .*, search_text: null, search_context: null, space_token: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at)
} AS m,
       COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities,
       r.memory AS version
ORDER BY m.created_at DESC, m.key DESC;

// name: count_known_at
// How many memories such a list would show on all its pages.
// parameters: begins_by, conversation_id, created_after, created_before, ends_after, entity, known_at, spaces
// parameters: statuses, tags, types
CALL () {
  MATCH (m:Memory)
  WHERE m.space IN $spaces AND m.status <> 'retracted' AND m.created_at <= $known_at
    AND m.created_at > $created_after AND m.created_at < $created_before
    AND (size($types) = 0 OR m.type IN $types)
    AND ($conversation_id = '' OR m.conversation_id = $conversation_id)
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND ($entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: $entity}) })
  CALL (m) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
    WHERE r.replaced_at > $known_at
    RETURN r ORDER BY r.version LIMIT 1
  }
  WITH m, r, CASE WHEN r IS NULL THEN m.status ELSE r.status END AS then_status,
       CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
       CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until
  WHERE then_status IN $statuses
    AND coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true)
  RETURN count(*) AS total
}
RETURN total;

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
