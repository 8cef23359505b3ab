// fragment: live
// True of a memory of the asked spaces and statuses whose time has not passed.
m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now

// fragment: live_chunk
// The same of a chunk, with the times that its memory is valid between; the vector index knows no null.
c.space IN $spaces AND c.status IN $statuses AND c.expires_at > $now
AND c.valid_from <= $begins_by_ms AND c.valid_until > $ends_after_ms

// fragment: filtered
// True of a memory that passes the filters, the last two by one of its sources; a range from '' to the last character
// filters nothing.
m.type IN $types AND (
  (m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to)
  OR EXISTS {
    MATCH (m)-[:FROM]->(more:Source)
    WHERE more.captured_by IN $captured_by AND coalesce(more.conversation_id, '') >= $conversation_from
      AND coalesce(more.conversation_id, '') <= $conversation_to
  })

// fragment: filtered_chunk
// A live chunk that passes those filters; the vector index knows them.
@live_chunk
AND c.type IN $types AND c.captured_by IN $captured_by
AND c.conversation_id >= $conversation_from AND c.conversation_id <= $conversation_to

// fragment: chunks_by_further_sources
// The nearest chunks of live memories that pass the filters by a further source alone, which the index does not know.
CALL () {
  MATCH (source:Source)
  WHERE source.space IN $spaces AND source.conversation_id = $conversation_from AND source.captured_by IN $captured_by
  RETURN source
UNION ALL
  WITH 1 AS once WHERE $conversation_from = '' AND size($captured_by) < 3
  MATCH (source:Source)
  WHERE source.space IN $spaces AND source.captured_by IN $captured_by
  RETURN source
}
MATCH (m:Memory)-[:FROM]->(source)
WITH DISTINCT m
WHERE @live AND @valid AND m.type IN $types
MATCH (c:Chunk)-[:OF]->(m)
WHERE NOT (c.captured_by IN $captured_by
  AND c.conversation_id >= $conversation_from AND c.conversation_id <= $conversation_to)
WITH c, vector.similarity.cosine(c.embedding, $vector) AS s
WHERE s IS NOT NULL
RETURN c, s ORDER BY s DESC, c.key LIMIT $vector_limit

// fragment: tagged
// True of a memory that has all of some tags and mentions one of the keys of each of some entities; what is empty
// filters nothing.
all(tag IN $tags WHERE tag = '' OR tag IN m.tags)
AND all(meant IN $entities
  WHERE size(meant) = 0 OR EXISTS { MATCH (m)-[:MENTIONS]->(x:Entity) WHERE x.key IN meant })

// fragment: vector_ranks
// The ranks rv and scores sv of the memories that vectors found, each by its best chunk.
WITH m, max(s) AS s, count(*) AS seen ORDER BY s DESC, m.uid
WITH collect([m, s, seen]) AS found
UNWIND range(0, size(found) - 1) AS i
RETURN found[i][0] AS m, i + 1 AS rv, found[i][1] AS sv, found[i][2] AS seen, null AS rf, null AS sf

// fragment: vector_ranks_of_chunks
// The same for the memories of the found chunks.
MATCH (c)-[:OF]->(m:Memory)
@vector_ranks

// fragment: vector_ranks_of_all
// The same for the best $vector_limit of the memories that were all compared.
WITH m, max(s) AS s ORDER BY s DESC, m.uid LIMIT $vector_limit
@vector_ranks

// fragment: text_ranks
// The ranks rf and scores sf of the memories that words found.
WITH collect([m, s]) AS found
UNWIND range(0, size(found) - 1) AS i
RETURN found[i][0] AS m, null AS rv, null AS sv, null AS seen, i + 1 AS rf, found[i][1] AS sf

// fragment: text_arm
// The memories that words find; their tokens stand for the filters.
MATCH (m:Memory)
  SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_limit) SCORE AS s
WHERE @live

// fragment: text_arm_ranks
// Their ranks.
WITH m, s ORDER BY s DESC, m.uid
@text_ranks

// fragment: filtered_text_arm
// The memories that words find and that pass the filters; a token may be of another source than the one that counts.
@text_arm
  AND @filtered
@text_arm_ranks

// fragment: rankable
// What rankers need of a memory that may not come whole.
m.key, m.importance, m.confidence, m.updated_at.epochMillis, m.created_at.epochMillis, m.recall_count,
m.feedback_up, m.feedback_down, m.negative_hits

// fragment: fused_rows
// Both arms fused: the memories found, best first, and a row for each.
WITH m, max(rv) AS rv, max(sv) AS sv, max(seen) AS seen, max(rf) AS rf, max(sf) AS sf
WITH m, rv, sv, seen, rf, sf,
     coalesce($vector_weight / ($k + rv), 0.0) + coalesce($text_weight / ($k + rf), 0.0) AS score
ORDER BY score DESC, m.key
WITH collect(m) AS found, collect([@rankable, rv, sv, seen, rf, sf]) AS rows

// fragment: near_in_graph
// The graph arm up to its filters: from the first $seeds found on to memories two typed edges, one shared entity, or an
// entity that a relation leads to away, over nothing with more than $hub edges.
UNWIND range(0, size(found[0..$seeds]) - 1) AS position
WITH position, found[position] AS seed
CALL (seed) {
  WITH seed WHERE COUNT { (seed)-[:@EDGE_TYPES]-() } <= $hub
  MATCH (seed)-[e:@EDGE_TYPES]-(n:Memory)
  WHERE n.space = seed.space
  RETURN n, e.weight / 2 AS near
UNION ALL
  WITH seed WHERE COUNT { (seed)-[:@EDGE_TYPES]-() } <= $hub
  MATCH (seed)-[e:@EDGE_TYPES]-(x:Memory)
  WHERE x.space = seed.space AND COUNT { (x)-[:@EDGE_TYPES]-() } <= $hub
  MATCH (x)-[f:@EDGE_TYPES]-(n:Memory)
  WHERE n.space = seed.space AND n <> seed
  RETURN n, e.weight * f.weight / 4 AS near
UNION ALL
  MATCH (seed)-[:MENTIONS]->(x:Entity)
  WITH seed, x, COUNT { (x)<-[:MENTIONS]-() } AS degree
  WHERE degree <= $hub
  MATCH (x)<-[:MENTIONS]-(n:Memory)
  WHERE n <> seed
  RETURN n, 1.0 / degree AS near
UNION ALL
  MATCH (seed)-[:MENTIONS]->(x:Entity)
  WITH seed, x, COUNT { (x)-[:RELATION]-() } AS related
  WHERE related > 0 AND related <= $hub
  MATCH (x)-[r:RELATION]-(y:Entity)
  WITH seed, r, y, startNode(r) AS a, endNode(r) AS b
  WHERE @holds AND @stand_for_themselves
  WITH seed, r, y, COUNT { (y)<-[:MENTIONS]-() } AS degree
  WHERE degree <= $hub
  MATCH (y)<-[:MENTIONS]-(n:Memory)
  WHERE n <> seed
  RETURN n, r.weight / (2 * degree) AS near
}
WITH n AS m, near / ($k + position + 1) AS near

// fragment: nearest
// The graph arm behind its filters: the memories that are nearest, by all ways together, and a row for each.
WITH m, sum(near) AS near ORDER BY near DESC, m.key LIMIT $graph_limit
RETURN collect(m) AS linked, collect([@rankable, near]) AS links
