// name: candidates
// Candidates of both arms, filtered inside the indexes and fused, in one row; the first $payload come whole.
// parameters: k, now, payload, spaces, statuses, text, text_limit, text_weight, vector, vector_limit, vector_weight
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (
      VECTOR INDEX chunk_embedding FOR $vector
      WHERE c.space IN $spaces AND c.status IN $statuses AND c.expires_at > $now
      LIMIT $vector_limit
    ) SCORE AS s
  MATCH (c)-[:OF]->(m:Memory)
  WITH m, max(s) AS s, count(*) AS seen ORDER BY s DESC, m.uid
  WITH collect([m, s, seen]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, i + 1 AS rv, found[i][1] AS sv, found[i][2] AS seen, null AS rf, null AS sf
UNION ALL
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_limit) SCORE AS s
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
  WITH m, s ORDER BY s DESC, m.uid
  WITH collect([m, s]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, null AS rv, null AS sv, null AS seen, i + 1 AS rf, found[i][1] AS sf
}
WITH m, max(rv) AS rv, max(sv) AS sv, max(seen) AS seen, max(rf) AS rf, max(sf) AS sf
WITH m, rv, sv, seen, rf, sf,
     coalesce($vector_weight / ($k + rv), 0.0) + coalesce($text_weight / ($k + rf), 0.0) AS score
ORDER BY score DESC, m.key
WITH collect(m) AS found,
     collect([m.key, m.importance, m.confidence, m.updated_at.epochMillis, rv, sv, seen, rf, sf]) AS rows
CALL (found) {
  UNWIND found AS m
  MATCH (m)-[:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(o:Memory)
  WHERE o.space = m.space
  WITH m, e, o ORDER BY e.uid, m.key LIMIT 1000
  RETURN collect([
    m.key, e.uid, startNode(e).uid, endNode(e).uid, type(e), e.weight, toString(e.created_at), e.reason, e.link_type
  ]) AS edges
}
CALL () {
  MATCH (p:EmbedPending)
  WHERE p.space IN $spaces
  RETURN count(p) AS pending
}
RETURN rows, [m IN found[0..$payload] | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories, contested, mentions, edges, pending;

// name: candidates_filtered
// The same with the filters that the vector index knows; a range from '' to the last character filters nothing.
// parameters: captured_by, conversation_from, conversation_to, k, now, payload, spaces, statuses, text, text_limit
// parameters: text_weight, types, vector, vector_limit, vector_weight
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (
      VECTOR INDEX chunk_embedding FOR $vector
      WHERE c.space IN $spaces AND c.status IN $statuses AND c.expires_at > $now
        AND c.type IN $types AND c.captured_by IN $captured_by
        AND c.conversation_id >= $conversation_from AND c.conversation_id <= $conversation_to
      LIMIT $vector_limit
    ) SCORE AS s
  MATCH (c)-[:OF]->(m:Memory)
  WITH m, max(s) AS s, count(*) AS seen ORDER BY s DESC, m.uid
  WITH collect([m, s, seen]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, i + 1 AS rv, found[i][1] AS sv, found[i][2] AS seen, null AS rf, null AS sf
UNION ALL
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_limit) SCORE AS s
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
  WITH m, s ORDER BY s DESC, m.uid
  WITH collect([m, s]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, null AS rv, null AS sv, null AS seen, i + 1 AS rf, found[i][1] AS sf
}
WITH m, max(rv) AS rv, max(sv) AS sv, max(seen) AS seen, max(rf) AS rf, max(sf) AS sf
WITH m, rv, sv, seen, rf, sf,
     coalesce($vector_weight / ($k + rv), 0.0) + coalesce($text_weight / ($k + rf), 0.0) AS score
ORDER BY score DESC, m.key
WITH collect(m) AS found,
     collect([m.key, m.importance, m.confidence, m.updated_at.epochMillis, rv, sv, seen, rf, sf]) AS rows
CALL (found) {
  UNWIND found AS m
  MATCH (m)-[:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(o:Memory)
  WHERE o.space = m.space
  WITH m, e, o ORDER BY e.uid, m.key LIMIT 1000
  RETURN collect([
    m.key, e.uid, startNode(e).uid, endNode(e).uid, type(e), e.weight, toString(e.created_at), e.reason, e.link_type
  ]) AS edges
}
CALL () {
  MATCH (p:EmbedPending)
  WHERE p.space IN $spaces
  RETURN count(p) AS pending
}
RETURN rows, [m IN found[0..$payload] | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories, contested, mentions, edges, pending;

// name: candidates_exact
// The same with every filter: all matching memories are compared, none is left out by an approximate index.
// parameters: captured_by, conversation_from, conversation_to, entities, k, now, payload, spaces, statuses, tags
// parameters: text, text_limit, text_weight, types, vector, vector_limit, vector_weight
CYPHER 25
CALL () {
  MATCH (m:Memory)
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
    AND m.type IN $types AND m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to
    AND all(tag IN $tags WHERE tag IN m.tags)
    AND all(entity IN $entities WHERE EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: entity}) })
  MATCH (c:Chunk)-[:OF]->(m)
  WITH m, vector.similarity.cosine(c.embedding, $vector) AS s
  WHERE s IS NOT NULL
  WITH m, max(s) AS s ORDER BY s DESC, m.uid LIMIT $vector_limit
  WITH m, max(s) AS s, count(*) AS seen ORDER BY s DESC, m.uid
  WITH collect([m, s, seen]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, i + 1 AS rv, found[i][1] AS sv, found[i][2] AS seen, null AS rf, null AS sf
UNION ALL
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_limit) SCORE AS s
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
  WITH m, s ORDER BY s DESC, m.uid
  WITH collect([m, s]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, null AS rv, null AS sv, null AS seen, i + 1 AS rf, found[i][1] AS sf
}
WITH m, max(rv) AS rv, max(sv) AS sv, max(seen) AS seen, max(rf) AS rf, max(sf) AS sf
WITH m, rv, sv, seen, rf, sf,
     coalesce($vector_weight / ($k + rv), 0.0) + coalesce($text_weight / ($k + rf), 0.0) AS score
ORDER BY score DESC, m.key
WITH collect(m) AS found,
     collect([m.key, m.importance, m.confidence, m.updated_at.epochMillis, rv, sv, seen, rf, sf]) AS rows
CALL (found) {
  UNWIND found AS m
  MATCH (m)-[:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (found) {
  UNWIND found[0..$payload] AS m
  MATCH (m)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(o:Memory)
  WHERE o.space = m.space
  WITH m, e, o ORDER BY e.uid, m.key LIMIT 1000
  RETURN collect([
    m.key, e.uid, startNode(e).uid, endNode(e).uid, type(e), e.weight, toString(e.created_at), e.reason, e.link_type
  ]) AS edges
}
CALL () {
  MATCH (p:EmbedPending)
  WHERE p.space IN $spaces
  RETURN count(p) AS pending
}
RETURN rows, [m IN found[0..$payload] | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories, contested, mentions, edges, pending;
