// name: candidates
// Candidates of both arms, filtered inside the indexes and fused, in one row; the first $payload come whole. From the
// first $seeds of them the graph arm goes on: two typed edges, or one shared entity; over nothing with more than $hub.
// parameters: begins_by, begins_by_ms, ends_after, ends_after_ms, graph_limit, hub, k, now, payload, seeds, spaces, statuses
// parameters: text, text_limit, text_weight, vector, vector_limit, vector_weight
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (
      VECTOR INDEX chunk_embedding FOR $vector
      WHERE c.space IN $spaces AND c.status IN $statuses AND c.expires_at > $now
        AND c.valid_from <= $begins_by_ms AND c.valid_until > $ends_after_ms
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
     collect([
       m.key, m.importance, m.confidence, m.updated_at.epochMillis, m.created_at.epochMillis, m.recall_count,
       rv, sv, seen, rf, sf
     ]) AS rows
CALL (found) {
  UNWIND range(0, size(found[0..$seeds]) - 1) AS place
  WITH place, found[place] AS seed
  CALL (seed) {
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space
    RETURN n, e.weight / 2 AS near
  UNION ALL
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(x:Memory)
    WHERE x.space = seed.space AND COUNT { (x)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (x)-[f:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space AND n <> seed
    RETURN n, e.weight * f.weight / 4 AS near
  UNION ALL
    MATCH (seed)-[:MENTIONS]->(x:Entity)
    WITH seed, x, COUNT { (x)<-[:MENTIONS]-() } AS degree
    WHERE degree <= $hub
    MATCH (x)<-[:MENTIONS]-(n:Memory)
    WHERE n <> seed
    RETURN n, 1.0 / degree AS near
  }
  WITH n AS m, near / ($k + place + 1) AS near
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
    AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
  WITH m, sum(near) AS near ORDER BY near DESC, m.key LIMIT $graph_limit
  RETURN collect([m, near]) AS links
}
WITH found, rows, links, found + [link IN links WHERE NOT link[0] IN found | link[0]] AS everyone,
     found[0..$payload] + [link IN links WHERE NOT link[0] IN found[0..$payload] | link[0]] AS whole
CALL (everyone) {
  UNWIND everyone AS m
  MATCH (m)-[e:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (whole) {
  UNWIND whole AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (whole) {
  UNWIND whole AS m
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
RETURN rows, [m IN whole | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories,
       [link IN links | [
         link[0].key, link[0].importance, link[0].confidence, link[0].updated_at.epochMillis, link[0].created_at.epochMillis, link[0].recall_count, link[1]
       ]] AS links, [] AS versions, contested, mentions, edges, pending;

// name: candidates_filtered
// The same with the filters that the vector index knows; a range from '' to the last character filters nothing.
// parameters: begins_by, begins_by_ms, ends_after, ends_after_ms, graph_limit, hub, k, now, payload, seeds, spaces, statuses
// parameters: text, text_limit, text_weight, vector, vector_limit, vector_weight
// parameters: captured_by, conversation_from, conversation_to, types
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (c:Chunk)
    SEARCH c IN (
      VECTOR INDEX chunk_embedding FOR $vector
      WHERE c.space IN $spaces AND c.status IN $statuses AND c.expires_at > $now
        AND c.valid_from <= $begins_by_ms AND c.valid_until > $ends_after_ms
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
     collect([
       m.key, m.importance, m.confidence, m.updated_at.epochMillis, m.created_at.epochMillis, m.recall_count,
       rv, sv, seen, rf, sf
     ]) AS rows
CALL (found) {
  UNWIND range(0, size(found[0..$seeds]) - 1) AS place
  WITH place, found[place] AS seed
  CALL (seed) {
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space
    RETURN n, e.weight / 2 AS near
  UNION ALL
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(x:Memory)
    WHERE x.space = seed.space AND COUNT { (x)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (x)-[f:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space AND n <> seed
    RETURN n, e.weight * f.weight / 4 AS near
  UNION ALL
    MATCH (seed)-[:MENTIONS]->(x:Entity)
    WITH seed, x, COUNT { (x)<-[:MENTIONS]-() } AS degree
    WHERE degree <= $hub
    MATCH (x)<-[:MENTIONS]-(n:Memory)
    WHERE n <> seed
    RETURN n, 1.0 / degree AS near
  }
  WITH n AS m, near / ($k + place + 1) AS near
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
    AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
    AND m.type IN $types AND m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to
  WITH m, sum(near) AS near ORDER BY near DESC, m.key LIMIT $graph_limit
  RETURN collect([m, near]) AS links
}
WITH found, rows, links, found + [link IN links WHERE NOT link[0] IN found | link[0]] AS everyone,
     found[0..$payload] + [link IN links WHERE NOT link[0] IN found[0..$payload] | link[0]] AS whole
CALL (everyone) {
  UNWIND everyone AS m
  MATCH (m)-[e:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (whole) {
  UNWIND whole AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (whole) {
  UNWIND whole AS m
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
RETURN rows, [m IN whole | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories,
       [link IN links | [
         link[0].key, link[0].importance, link[0].confidence, link[0].updated_at.epochMillis, link[0].created_at.epochMillis, link[0].recall_count, link[1]
       ]] AS links, [] AS versions, contested, mentions, edges, pending;

// name: candidates_exact
// The same with every filter: all matching memories are compared, none is left out by an approximate index. An empty
// tag or entity filters nothing.
// parameters: begins_by, ends_after, graph_limit, hub, k, now, payload, seeds, spaces, statuses
// parameters: text, text_limit, text_weight, vector, vector_limit, vector_weight
// parameters: captured_by, conversation_from, conversation_to, entities, tags, types
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (m:Memory)
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
    AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
    AND m.type IN $types AND m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to
    AND all(tag IN $tags WHERE tag = '' OR tag IN m.tags)
    AND all(entity IN $entities WHERE entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: entity}) })
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
     collect([
       m.key, m.importance, m.confidence, m.updated_at.epochMillis, m.created_at.epochMillis, m.recall_count,
       rv, sv, seen, rf, sf
     ]) AS rows
CALL (found) {
  UNWIND range(0, size(found[0..$seeds]) - 1) AS place
  WITH place, found[place] AS seed
  CALL (seed) {
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space
    RETURN n, e.weight / 2 AS near
  UNION ALL
    WITH seed WHERE COUNT { (seed)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (seed)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(x:Memory)
    WHERE x.space = seed.space AND COUNT { (x)-[:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-() } <= $hub
    MATCH (x)-[f:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(n:Memory)
    WHERE n.space = seed.space AND n <> seed
    RETURN n, e.weight * f.weight / 4 AS near
  UNION ALL
    MATCH (seed)-[:MENTIONS]->(x:Entity)
    WITH seed, x, COUNT { (x)<-[:MENTIONS]-() } AS degree
    WHERE degree <= $hub
    MATCH (x)<-[:MENTIONS]-(n:Memory)
    WHERE n <> seed
    RETURN n, 1.0 / degree AS near
  }
  WITH n AS m, near / ($k + place + 1) AS near
  WHERE m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now
    AND coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)
    AND m.type IN $types AND m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to
    AND all(tag IN $tags WHERE tag = '' OR tag IN m.tags)
    AND all(entity IN $entities WHERE entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: entity}) })
  WITH m, sum(near) AS near ORDER BY near DESC, m.key LIMIT $graph_limit
  RETURN collect([m, near]) AS links
}
WITH found, rows, links, found + [link IN links WHERE NOT link[0] IN found | link[0]] AS everyone,
     found[0..$payload] + [link IN links WHERE NOT link[0] IN found[0..$payload] | link[0]] AS whole
CALL (everyone) {
  UNWIND everyone AS m
  MATCH (m)-[e:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (whole) {
  UNWIND whole AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (whole) {
  UNWIND whole AS m
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
RETURN rows, [m IN whole | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories,
       [link IN links | [
         link[0].key, link[0].importance, link[0].confidence, link[0].updated_at.epochMillis, link[0].created_at.epochMillis, link[0].recall_count, link[1]
       ]] AS links, [] AS versions, contested, mentions, edges, pending;

// name: candidates_known_at
// The same as far as it was known at a past time: each memory in the version that was in force then, compared by
// the vectors of that version, and by words where its text is still the same.
// parameters: begins_by, captured_by, conversation_from, conversation_to, ends_after, entities, k, known_at, now, payload
// parameters: spaces, statuses, tags, text, text_fetch, text_limit, text_weight, types, vector, vector_limit, vector_weight
// parameters: embedder
// also in slot: _b
CYPHER 25
CALL () {
  MATCH (m:Memory)
  WHERE m.space IN $spaces AND m.status <> 'retracted' AND m.expires_at > $now AND m.created_at <= $known_at
    AND m.type IN $types AND m.captured_by IN $captured_by
    AND coalesce(m.conversation_id, '') >= $conversation_from AND coalesce(m.conversation_id, '') <= $conversation_to
    AND all(tag IN $tags WHERE tag = '' OR tag IN m.tags)
    AND all(entity IN $entities WHERE entity = '' OR EXISTS { (m)-[:MENTIONS]->(:Entity {entity_key: entity}) })
  CALL (m) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
    WHERE r.replaced_at > $known_at
    RETURN r ORDER BY r.version LIMIT 1
  }
  WITH m, r,  CASE WHEN r IS NULL THEN m.status ELSE r.status END AS status,
       CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
       CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until
  WHERE status IN $statuses AND coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true)
  CALL (m, r) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(later:Revision)
    WHERE later.version >= r.version AND EXISTS { (later)<-[:OF]-(:FormerChunk) }
    RETURN later ORDER BY later.version LIMIT 1
  }
  CALL (m, later) {
    MATCH (c:FormerChunk)-[:OF]->(later)
    WHERE c.embedder = $embedder
    RETURN c.embedding AS embedding
  UNION ALL
    MATCH (c:Chunk)-[:OF]->(m)
    WHERE later IS NULL
    RETURN c.embedding AS embedding
  }
  WITH m, r, vector.similarity.cosine(embedding, $vector) AS s
  WHERE s IS NOT NULL
  WITH m, r, max(s) AS s ORDER BY s DESC, m.uid LIMIT $vector_limit
  WITH collect([m, r, s]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, found[i][1] AS r, i + 1 AS rv, found[i][2] AS sv, 1 AS seen, null AS rf, null AS sf
UNION ALL
  MATCH (m:Memory)
    SEARCH m IN (FULLTEXT INDEX memory_text FOR $text LIMIT $text_fetch) SCORE AS s
  WHERE m.space IN $spaces AND m.expires_at > $now AND m.created_at <= $known_at
  CALL (m) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
    WHERE r.replaced_at > $known_at
    RETURN r ORDER BY r.version LIMIT 1
  }
  WITH m, r, s, CASE WHEN r IS NULL THEN m.status ELSE r.status END AS status,
       CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
       CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until
  WHERE status IN $statuses AND coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true) AND (r IS NULL OR r.content = m.content)
  WITH m, r, s ORDER BY s DESC, m.uid LIMIT $text_limit
  WITH collect([m, r, s]) AS found
  UNWIND range(0, size(found) - 1) AS i
  RETURN found[i][0] AS m, found[i][1] AS r, null AS rv, null AS sv, null AS seen, i + 1 AS rf, found[i][2] AS sf
}
WITH m, r, max(rv) AS rv, max(sv) AS sv, max(seen) AS seen, max(rf) AS rf, max(sf) AS sf
WITH m, r, rv, sv, seen, rf, sf,
     coalesce($vector_weight / ($k + rv), 0.0) + coalesce($text_weight / ($k + rf), 0.0) AS score
ORDER BY score DESC, m.key
WITH collect(m) AS found,
     collect([
       m.key, m.importance, m.confidence, m.updated_at.epochMillis, m.created_at.epochMillis, m.recall_count,
       rv, sv, seen, rf, sf
     ]) AS rows,
     collect([m.key, r.memory]) AS versions
WITH found, rows, versions, [] AS links, found AS everyone, found[0..$payload] AS whole
CALL (everyone) {
  UNWIND everyone AS m
  MATCH (m)-[e:CONTRADICTS]-(o:Memory)
  WHERE m.status = 'active' AND o.status = 'active' AND o.space = m.space AND e.created_at <= $known_at
  RETURN collect(DISTINCT m.key) AS contested
}
CALL (whole) {
  UNWIND whole AS m
  MATCH (m)-[:MENTIONS]->(e:Entity)
  RETURN collect([m.key, e.entity_key, e.label]) AS mentions
}
CALL (whole) {
  UNWIND whole AS m
  MATCH (m)-[e:UPDATES|CONTRADICTS|RELATED_TO|CAUSED_BY|PART_OF]-(o:Memory)
  WHERE o.space = m.space AND e.created_at <= $known_at
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
RETURN rows, [m IN whole | m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }] AS memories,
       [link IN links | [
         link[0].key, link[0].importance, link[0].confidence, link[0].updated_at.epochMillis, link[0].created_at.epochMillis, link[0].recall_count, link[1]
       ]] AS links, versions, contested, mentions, edges, pending;

// name: cards
// What else is known of the entities that some results mention, most important first, and the results that were
// left out before. Entities come in the order of the results.
// parameters: begins_by_ms, card_rows, ends_after_ms, importance, keys, now, space_keys, spaces, statuses
CYPHER 25
CALL () {
  UNWIND $space_keys AS key
  MATCH (m:Memory {key: key})
  WITH m, COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
  RETURN collect([m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }, entities]) AS missing
}
CALL () {
  UNWIND range(0, size($keys) - 1) AS place
  MATCH (m:Memory {key: $keys[place]})-[:MENTIONS]->(e:Entity)
  WITH m, e, place ORDER BY place, e.entity_key
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
RETURN missing, [e IN entities | [e.entity_key, e.label]] AS entities, facts;

// name: cards_known_at
// The same as far as it was known at a past time.
// parameters: begins_by, card_rows, ends_after, importance, keys, known_at, now, space_keys, spaces, statuses
CYPHER 25
CALL () {
  UNWIND $space_keys AS key
  MATCH (m:Memory {key: key})
  WITH m, COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
  RETURN collect([m {
    .*, search_text: null, search_context: null, space_token: null,
    created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
    occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
    last_recalled_at: toString(m.last_recalled_at)
  }, entities]) AS missing
}
CALL () {
  UNWIND range(0, size($keys) - 1) AS place
  MATCH (m:Memory {key: $keys[place]})-[:MENTIONS]->(e:Entity)
  WITH e, min(place) AS place ORDER BY place, e.entity_key
  RETURN collect(e) AS entities
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (m:Memory)-[:MENTIONS]->(e)
  WHERE m.space IN $spaces AND m.status <> 'retracted' AND m.expires_at > $now AND m.created_at <= $known_at
    AND (m.pinned OR m.importance >= $importance) AND NOT m.key IN $keys
  WITH m, collect(e.entity_key) AS about
  CALL (m) {
    OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
    WHERE r.replaced_at > $known_at
    RETURN r ORDER BY r.version LIMIT 1
  }
  WITH m, r, about, CASE WHEN r IS NULL THEN m.status ELSE r.status END AS status,
       CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
       CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until
  WHERE status IN $statuses AND coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true)
  WITH m, r, about ORDER BY m.pinned DESC, m.importance DESC, m.created_at DESC, m.key LIMIT $card_rows
  RETURN collect([m.key, m.uid, CASE WHEN r IS NULL THEN m.content ELSE r.content END, about]) AS facts
}
RETURN missing, [e IN entities | [e.entity_key, e.label]] AS entities, facts;
