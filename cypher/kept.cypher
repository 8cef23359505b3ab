// fragment: kept
// A memory as the room reads it: with the entities that it mentions, and what merges and splits made of those that it
// mentioned before, the first ones first.
@memory, @entities, COLLECT {
  MATCH (m)-[former:FORMERLY_MENTIONED]->(before:Entity)
  MATCH (change:EntityChange {uid: former.change})
  RETURN [before.entity_key, split(change.into_key, '|')[1]] ORDER BY change.created_at, change.uid
}

// fragment: kept_shown
// What a room keeps in some spaces, of some types and statuses, under keys that begin so. Whether one was completed is
// told by its reason; null asks for either.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
WHERE m.kept_by = $kept_by AND m.space IN $spaces AND m.type IN $types AND m.status IN $statuses
  AND m.created_at > datetime({year: 1}) AND coalesce(m.logical_key, '') STARTS WITH $prefix
  AND ($completed IS NULL OR (coalesce(m.status_reason, '') = 'completed') = $completed)

// name: list
// One page of what a room keeps, the newest first.
// parameters: completed, cursor_key, cursor_time, kept_by, limit, prefix, spaces, statuses, types
@kept_shown
  AND (m.created_at < $cursor_time OR (m.created_at = $cursor_time AND m.key > $cursor_key))
WITH m ORDER BY m.created_at DESC, m.key LIMIT $limit
RETURN [@kept] AS kept
ORDER BY m.created_at DESC, m.key;

// name: count
// How many a list shows on all its pages.
// parameters: completed, kept_by, prefix, spaces, statuses, types
@kept_shown
RETURN count(m) AS total;

// fragment: of_the_room
// True of an active memory of the room, of some types, in some spaces.
m.kept_by = $kept_by AND m.space IN $spaces AND m.type IN $types AND m.status = 'active' AND m.expires_at > $now

// fragment: foundation
// The pinned memories of the room, the oldest first.
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(kept_by, space, pinned, created_at)
  WHERE m.pinned = true AND m.created_at > datetime({year: 1}) AND @of_the_room
  WITH m ORDER BY m.created_at, m.key LIMIT $pinned
  RETURN collect([@kept]) AS foundation
}

// name: pinned
// The pinned memories of a room, the oldest first.
// parameters: kept_by, now, pinned, spaces, types
@foundation
RETURN foundation;

// name: nearest
// The memories of a room that are nearest to a vector, best first, with how many chunks were seen; and the pinned ones.
// parameters: kept_by, limit, now, pinned, spaces, types, vector, vector_limit
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (VECTOR INDEX chunk_embedding FOR $vector
      WHERE c.space IN $spaces AND c.status = 'active' AND c.expires_at > $now AND c.type IN $types
      LIMIT $vector_limit) SCORE AS near
  WITH collect([c, near]) AS chunks
  CALL (chunks) {
    UNWIND chunks AS each
    WITH each[0] AS c, each[1] AS near
    MATCH (c)-[:OF]->(m:Memory)
    WHERE @of_the_room
    WITH m, max(near) AS near ORDER BY near DESC, m.uid LIMIT $limit
    RETURN collect([@kept, near]) AS found
  }
  RETURN size(chunks) AS seen, found
}
@foundation
RETURN seen, found, foundation;

// name: nearest_of_all
// The same where every memory of the room is compared.
// parameters: kept_by, limit, now, pinned, spaces, types, vector
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
  WHERE m.created_at > datetime({year: 1}) AND @of_the_room
  MATCH (c:Chunk)-[:OF]->(m)
  WITH m, max(vector.similarity.cosine(c.embedding, $vector)) AS near
  WHERE near IS NOT NULL
  WITH m, near ORDER BY near DESC, m.uid LIMIT $limit
  RETURN collect([@kept, near]) AS found
}
@foundation
RETURN 0 AS seen, found, foundation;

// name: with_words
// The memories of a room that words find, best first, and the pinned ones.
// parameters: fetched, kept_by, limit, now, pinned, spaces, text, types
CYPHER 25
CALL () {
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $fetched) SCORE AS near
  WHERE @of_the_room
  WITH m, near ORDER BY near DESC, m.uid LIMIT $limit
  RETURN collect([@kept, near]) AS found
}
@foundation
RETURN 0 AS seen, found, foundation;

// name: of_entities
// The memories of a room that mention some entities and matter enough, the most important first, without those that
// are shown already.
// parameters: importance, kept_by, limit, now, shown, space_keys, spaces, types
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
CALL (e) {
  MATCH (m:Memory)-[x:MENTIONS]->(e)
  WHERE x.space IN $spaces AND x.status = 'active' AND x.expires > $now AND x.weight >= $importance
    AND @of_the_room AND NOT m.uid IN $shown
  RETURN m
}
WITH DISTINCT m
ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.key LIMIT $limit
RETURN [@kept] AS kept
ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.key;
