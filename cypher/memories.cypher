// name: by_key
// Memories by their keys, each of which names a space.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: by_uid
// Memories of one uid in the spaces of a tenant; the prefix ends the tenant's name.
// parameters: space_prefix, uid
MATCH (m:Memory {uid: $uid})
WHERE m.space STARTS WITH $space_prefix
RETURN @memory AS m, @entities AS entities
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

// fragment: wanted
// True of a memory that a list shows; a filter that is empty lets every memory pass.
m.created_at >= $created_after AND m.created_at < $created_before
AND (size($types) = 0 OR m.type IN $types)
AND ($conversation_id = '' OR m.conversation_id = $conversation_id
  OR EXISTS { (m)-[:FROM]->(:Source {conversation_id: $conversation_id}) })
AND all(tag IN $tags WHERE tag IN m.tags)
AND (size($entities) = 0 OR EXISTS { MATCH (m)-[:MENTIONS]->(e:Entity) WHERE e.key IN $entities })

// name: list
// One page of the memories of some spaces, newest first, behind the cursor.
// parameters: begins_by, conversation_id, created_after, created_before, cursor_key, cursor_time, ends_after, entities
// parameters: limit, spaces, statuses, tags, types
UNWIND $spaces AS space
UNWIND $statuses AS status
CALL (space, status) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.status = status AND m.created_at <= $cursor_time
    AND @valid AND (m.created_at < $cursor_time OR m.key < $cursor_key) AND @wanted
  RETURN m
  ORDER BY m.created_at DESC, m.key DESC
  LIMIT $limit
}
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.created_at DESC, m.key DESC;

// name: count
// How many memories of some spaces a list would show on all its pages.
// parameters: begins_by, conversation_id, created_after, created_before, ends_after, entities
// parameters: spaces, statuses, tags, types
MATCH (m:Memory)
WHERE m.space IN $spaces AND m.status IN $statuses AND @valid AND @wanted
RETURN count(*) AS total;

// name: list_known_at
// The same as far as it was known at a past time: each memory in the version that was in force then.
// parameters: begins_by, conversation_id, created_after, created_before, cursor_key, cursor_time, ends_after, entities
// parameters: known_at, limit, spaces, statuses, tags, types
UNWIND $spaces AS space
UNWIND ['active', 'superseded', 'archived'] AS today
CALL (space, today) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(space, status, created_at)
  WHERE m.space = space AND m.status = today AND m.created_at <= $cursor_time AND m.created_at <= $known_at
    AND (m.created_at < $cursor_time OR m.key < $cursor_key) AND @wanted
  @version_then
  WITH m, r, @as_it_was
  WHERE status IN $statuses AND @valid_then
  RETURN m, r
  ORDER BY m.created_at DESC, m.key DESC
  LIMIT $limit
}
WITH m, r ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
RETURN @memory AS m, @entities AS entities, r.memory AS version
ORDER BY m.created_at DESC, m.key DESC;

// name: count_known_at
// How many memories such a list would show on all its pages.
// parameters: begins_by, conversation_id, created_after, created_before, ends_after, entities, known_at, spaces
// parameters: statuses, tags, types
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(space, status, created_at)
  WHERE m.space IN $spaces AND m.status IN ['active', 'superseded', 'archived'] AND m.created_at <= $known_at
    AND @wanted
  @version_then
  WITH m, r, @as_it_was
  WHERE status IN $statuses AND @valid_then
  RETURN count(*) AS total
}
RETURN total;

// name: pending
// Memories that wait for their vectors, oldest first, in any space or in one.
// parameters: limit, space
MATCH (m:EmbedPending)
USING INDEX SEEK m:EmbedPending(space, created_at)
WHERE @space_in_range AND m.created_at > datetime({year: 1})
RETURN m.key AS key, m.content AS content, m.actor AS actor, m.version AS version
ORDER BY m.created_at, m.key
LIMIT $limit;

// name: pending_count
// How many memories wait for their vectors, in any space or in one.
// parameters: space
MATCH (m:EmbedPending)
USING INDEX SEEK m:EmbedPending(space, created_at)
WHERE @space_in_range AND m.created_at > datetime({year: 1})
RETURN count(*) AS pending;
