// fragment: contradicting
// The edges of contradiction between active memories.
UNWIND everyone AS m
MATCH (m)-[e:CONTRADICTS]-(o:Memory)
WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space

// fragment: mentions
// The entities of the memories that come whole or are looked at.
CALL (whole, looked) {
  UNWIND whole + looked AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}

// fragment: edges_of_memory
// The edges of a memory m that were there at $edges_by: the newest hundred, one more says that there are more. Few are
// not sorted, for each row that is sorted counts as much memory as all that the query carries.
CALL (m) {
  WITH m WHERE COUNT { (m)-[:@EDGE_TYPES]-() } <= 100
  MATCH (m)-[e:@EDGE_TYPES]-(o:Memory)
  WHERE o.space = m.space AND coalesce(e.created_at <= $edges_by, true)
  RETURN e
UNION ALL
  WITH m WHERE COUNT { (m)-[:@EDGE_TYPES]-() } > 100
  MATCH (m)-[e:@EDGE_TYPES]-(o:Memory)
  WHERE o.space = m.space AND coalesce(e.created_at <= $edges_by, true)
  RETURN e ORDER BY coalesce(e.created_at, datetime({epochMillis: 0})) DESC, e.uid LIMIT 101
}
WITH m, startNode(e) AS from, e, endNode(e) AS to
RETURN collect([m.key, @edge_row]) AS edges

// fragment: bundle
// The one row of a recall, with how many memories still wait for their vectors.
CALL () {
  MATCH (p:EmbedPending)
  USING INDEX SEEK p:EmbedPending(space, created_at)
  WHERE p.space IN $spaces AND p.created_at > datetime({year: 1})
  RETURN count(p) AS pending
}
RETURN rows, [m IN whole | @memory] AS memories, [m IN looked | @glance] AS glances, links, versions, contested,
       mentions, edges, pending

// fragment: glance
// What a ranker looks at in a memory m, and what a line of a context says.
m {
  .key, .content, .captured_by, .native, .turns, .kept_by, .memory_kind,
  created_at: toString(m.created_at), occurred_at: toString(m.occurred_at)
}

// fragment: bundle_with_links
// What belongs to the memories found by any arm, and the row. The first $payload and all of the graph arm come whole,
// or, where that is 0, the first $looked and all of the graph arm as far as rankers look at them.
WITH rows, links, [] AS versions, found, found + [m IN linked WHERE NOT m IN found] AS everyone,
     found[0..$payload] + [m IN linked WHERE $payload > 0 AND NOT m IN found[0..$payload]] AS whole
WITH rows, links, versions, everyone, whole,
     CASE $looked WHEN 0 THEN [] ELSE found[0..$looked] + everyone[size(found)..] END AS looked
CALL (everyone) {
  @contradicting
  RETURN collect(DISTINCT m.key) AS contested
}
@mentions
CALL (whole) {
  UNWIND CASE WHEN $with_edges THEN whole ELSE [] END AS m
  @edges_of_memory
}
@bundle

// name: candidates
// Candidates of both arms, filtered inside the indexes and fused, in one row; the first $payload come whole. From the
// first $seeds of them the graph arm goes on: two typed edges, or one shared entity; over nothing with more than $hub.
// parameters: begins_by, begins_by_ms, edges_by, ends_after, ends_after_ms, graph_limit, hub, k, looked, now, payload
// parameters: seeds, spaces, statuses, text, text_limit, text_weight, vector, vector_limit, vector_weight, with_edges
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (VECTOR INDEX chunk_embedding FOR $vector WHERE @live_chunk LIMIT $vector_limit) SCORE AS s
  @vector_ranks_of_chunks
UNION ALL
  @text_arm
  @text_arm_ranks
}
@fused_rows
CALL (found) {
  @near_in_graph
  WHERE @live AND @valid
  @nearest
}
@bundle_with_links;

// name: candidates_filtered
// The same with the filters that the vector index knows; a range from '' to the last character filters nothing.
// parameters: begins_by, begins_by_ms, edges_by, ends_after, ends_after_ms, graph_limit, hub, k, looked, now, payload
// parameters: seeds, spaces, statuses, text, text_limit, text_weight, vector, vector_limit, vector_weight, with_edges
// parameters: captured_by, conversation_from, conversation_to, types
// also in slot: _b
CYPHER 25
CALL () {
  CALL () {
    MATCH (c:Chunk)
      SEARCH c IN (VECTOR INDEX chunk_embedding FOR $vector WHERE @filtered_chunk LIMIT $vector_limit) SCORE AS s
    RETURN c, s
  UNION ALL
    @chunks_by_further_sources
  }
  @vector_ranks_of_chunks
UNION ALL
  @filtered_text_arm
}

@fused_rows
CALL (found) {
  @near_in_graph
  WHERE @live AND @valid AND @filtered
  @nearest
}
@bundle_with_links;

// name: candidates_exact
// The same with every filter: all matching memories are compared, none is left out by an approximate index. An empty
// tag or entity filters nothing.
// parameters: begins_by, edges_by, ends_after, graph_limit, hub, k, looked, now, payload, seeds, spaces, statuses
// parameters: text, text_limit, text_weight, vector, vector_limit, vector_weight, with_edges
// parameters: captured_by, conversation_from, conversation_to, entities, tags, types
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(space, type, status)
  WHERE @live AND @valid AND @filtered AND @tagged
  MATCH (c:Chunk)-[:OF]->(m)
  WITH m, vector.similarity.cosine(c.embedding, $vector) AS s
  WHERE s IS NOT NULL
  @vector_ranks_of_all
UNION ALL
  @text_arm
    AND @filtered AND @tagged
  @text_arm_ranks
}
@fused_rows
CALL (found) {
  @near_in_graph
  WHERE @live AND @valid AND @filtered AND @tagged
  @nearest
}
@bundle_with_links;

// name: candidates_known_at
// The same as far as it was known at a past time: each memory in the version that was in force then, compared by
// the vectors of that version, and by words where its text is still the same. A version whose vectors were forgotten
// is found by the words that it has.
// parameters: begins_by, embedder, ends_after, k, known_at, looked, now, payload, spaces, statuses
// parameters: text, text_fetch, text_limit, text_weight, vector, vector_limit, vector_weight, words
// parameters: captured_by, conversation_from, conversation_to, entities, tags, types
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (m:Memory)
  WHERE @known_then AND @filtered AND @tagged
  @version_then
  WITH m, r, @as_it_was
  WHERE status IN $statuses AND @valid_then
  @vectors_of_version
  CALL (m, later) {
    MATCH (c:FormerChunk)-[:OF]->(later)
    WHERE c.embedder = $embedder
    RETURN c.embedding AS embedding
  UNION ALL
    MATCH (c:Chunk)-[:OF]->(m)
    WHERE later IS NULL
    RETURN c.embedding AS embedding
  }
  WITH m, vector.similarity.cosine(embedding, $vector) AS s
  WHERE s IS NOT NULL
  @vector_ranks_of_all
UNION ALL
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_fetch) SCORE AS s
  WHERE m.space IN $spaces AND m.expires_at > $now AND m.created_at <= $known_at AND @filtered AND @tagged
  @version_then
  WITH m, r, s, @as_it_was
  WHERE status IN $statuses AND @valid_then AND (r IS NULL OR r.content = m.content)
  WITH m, s ORDER BY s DESC, m.uid LIMIT $text_limit
  @text_ranks
UNION ALL
  MATCH (m:Memory)
  WHERE @known_then AND @filtered AND @tagged
  @version_then
  WITH m, r, @as_it_was
  WHERE r IS NOT NULL AND status IN $statuses AND @valid_then
  @vectors_of_version
  WITH m, r, later
  WHERE later.vectors_forgotten
  WITH m, size([word IN $words WHERE toLower(r.content) CONTAINS word]) AS s
  WHERE s > 0
  WITH m, s ORDER BY s DESC, m.uid LIMIT $text_limit
  @text_ranks
}
@fused_rows
CALL (found) {
  UNWIND found AS m
  @version_then
  RETURN collect([m.key, r.memory]) AS versions
}
WITH rows, versions, [] AS links, [] AS edges, found AS everyone, found[0..$payload] AS whole,
     found[0..$looked] AS looked
CALL (everyone) {
  @contradicting
    AND e.created_at <= $known_at
  RETURN collect(DISTINCT m.key) AS contested
}
@mentions
@bundle;

// fragment: left_out
// The results of some keys whole, and the edges of some keys.
CALL () {
  UNWIND $space_keys AS key
  MATCH (m:Memory {key: key})
  WITH m, @entities AS entities
  RETURN collect([@memory, entities]) AS missing
}
CALL () {
  UNWIND $edge_keys AS key
  MATCH (m:Memory {key: key})
  @edges_of_memory
}

// fragment: relations_of_cards
// The first relations of each of some entities, of two hundred that are looked at.
CALL (entities) {
  UNWIND entities AS e
  CALL (e) {
    MATCH (e)-[r:RELATION]-(:Entity)
    WHERE r.space IN $spaces
    WITH r LIMIT 200
    WITH r, startNode(r) AS a, endNode(r) AS b
    WHERE @holds AND r.created_at <= $edges_by AND @stand_for_themselves
    WITH a, r, b ORDER BY r.key LIMIT $card_relations
    RETURN @relation_seen AS relation
  }
  RETURN collect(DISTINCT relation) AS relations
}

// name: cards
// What else is known of the entities that some results mention, most important first, and the results that were
// left out before. Entities come in the order of the results.
// parameters: begins_by, begins_by_ms, card_relations, card_rows, edge_keys, edges_by, ends_after, ends_after_ms
// parameters: importance, keys, now, space_keys, spaces, statuses
CYPHER 25
@left_out
CALL () {
  UNWIND range(0, size($keys) - 1) AS position
  MATCH (m:Memory {key: $keys[position]})-[:MENTIONS]->(e:Entity)
  WITH m, e, position ORDER BY position, e.entity_key
  WITH collect(DISTINCT m) AS shown, collect(e) AS mentioned
  RETURN shown, reduce(found = [], e IN mentioned | CASE WHEN e IN found THEN found ELSE found + e END) AS entities
}
CALL (entities, shown) {
  UNWIND entities AS e
  MATCH (f:Memory)-[x:MENTIONS]->(e)
  WHERE x.space IN $spaces AND x.status IN $statuses AND x.expires > $now AND x.weight >= $importance
    AND x.begins <= $begins_by_ms AND x.ends > $ends_after_ms AND NOT f IN shown
  WITH f, max(x.weight) AS weight, max(x.created) AS created, collect(e.entity_key) AS about
  ORDER BY weight DESC, created DESC, f.key LIMIT $card_rows
  WITH f, about WHERE f.space IN $spaces AND f.status IN $statuses
  RETURN collect([f.key, f.uid, f.content, about]) AS facts
}
@relations_of_cards
RETURN missing, edges, [e IN entities | [e.entity_key, e.label]] AS entities, facts, relations;

// name: cards_known_at
// The same as far as it was known at a past time.
// parameters: begins_by, card_relations, card_rows, edge_keys, edges_by, ends_after, importance, keys, known_at, now
// parameters: space_keys, spaces, statuses
CYPHER 25
@left_out
CALL () {
  UNWIND range(0, size($keys) - 1) AS position
  MATCH (m:Memory {key: $keys[position]})-[:MENTIONS]->(e:Entity)
  WITH e, min(position) AS position ORDER BY position, e.entity_key
  RETURN collect(e) AS entities
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (m:Memory)-[:MENTIONS]->(e)
  WHERE @known_then AND (m.pinned OR m.importance >= $importance) AND NOT m.key IN $keys
  WITH m, collect(e.entity_key) AS about
  @version_then
  WITH m, r, about, @as_it_was
  WHERE status IN $statuses AND @valid_then
  WITH m, r, about ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.key LIMIT $card_rows
  RETURN collect([m.key, m.uid, CASE WHEN r IS NULL THEN m.content ELSE r.content END, about]) AS facts
}
@relations_of_cards
RETURN missing, edges, [e IN entities | [e.entity_key, e.label]] AS entities, facts, relations;

// name: text_counts
// How many memories of some spaces the text index has for each of some searches, counted up to a number; in the order
// of the searches.
// parameters: most, spaces, texts
CYPHER 25
UNWIND range(0, size($texts) - 1) AS place
CALL (place) {
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $texts[place] LIMIT $most)
  WHERE m.space IN $spaces
  RETURN count(m) AS found
}
RETURN found
ORDER BY place;
