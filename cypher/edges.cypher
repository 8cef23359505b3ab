// name: by_uids
// Edges of some uids between memories of a tenant; the prefix ends the tenant's name.
// parameters: space_prefix, uids
@edges_of_uids
WITH from, e, to
WHERE from.space STARTS WITH $space_prefix AND to.space = from.space
RETURN from.space AS space, [@edge_row] AS edge
ORDER BY space, from.uid, to.uid
LIMIT 100000;

// name: list
// One page of the edges of some spaces, by their start, behind the cursor.
// parameters: cursor_key, cursor_uid, limit, spaces, types
UNWIND $spaces AS space
CALL (space) {
  MATCH (from:Memory)
  USING INDEX SEEK from:Memory(key)
  WHERE from.key > space + '|' AND from.key < space + '}' AND from.key >= $cursor_key
  MATCH (from)-[e:@EDGE_TYPES]->(to:Memory)
  WHERE to.space = from.space AND type(e) IN $types AND (from.key > $cursor_key OR e.uid > $cursor_uid)
  RETURN from, e, to
  ORDER BY from.key, e.uid
  LIMIT $limit
}
RETURN from.key AS start, [@edge_row] AS edge
ORDER BY start, e.uid
LIMIT $limit;

// name: count
// How many edges a list shows on all its pages.
// parameters: spaces, types
UNWIND $spaces AS space
MATCH (from:Memory)
USING INDEX SEEK from:Memory(key)
WHERE from.key > space + '|' AND from.key < space + '}'
MATCH (from)-[e:@EDGE_TYPES]->(to:Memory)
WHERE to.space = from.space AND type(e) IN $types
RETURN count(*) AS total;

// name: list_of_memory
// One page of the edges that touch one memory.
// parameters: cursor_key, cursor_uid, limit, space_keys, types
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})-[e:@EDGE_TYPES]-(o:Memory)
WHERE o.space = m.space AND type(e) IN $types
WITH startNode(e) AS from, e, endNode(e) AS to
WHERE from.key > $cursor_key OR (from.key = $cursor_key AND e.uid > $cursor_uid)
RETURN DISTINCT from.key AS start, e.uid AS uid, [@edge_row] AS edge
ORDER BY start, uid
LIMIT $limit;

// name: count_of_memory
// How many edges touch one memory.
// parameters: space_keys, types
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})-[e:@EDGE_TYPES]-(o:Memory)
WHERE o.space = m.space AND type(e) IN $types
RETURN count(DISTINCT e) AS total;

// name: neighbours
// The memories within some steps of one memory, nearest first, with the edges among them and what they mention.
// Every step stays inside the space, also where an edge was drawn across it by hand.
// parameters: depth, edge_types, entity_space, key, limit, space
MATCH (start:Memory {key: $key})
WHERE start.space = $space
CALL (start) {
  MATCH (start)-[e:@EDGE_TYPES|@LINEAGE_TYPES]-(m:Memory)
  WHERE type(e) IN $edge_types AND m.space = $space AND m.status <> 'retracted' AND m <> start
  WITH DISTINCT m ORDER BY m.uid LIMIT $limit
  RETURN collect(m) AS first
}
CALL (start, first) {
  UNWIND CASE WHEN $depth >= 2 THEN first ELSE [] END AS n
  MATCH (n)-[e:@EDGE_TYPES|@LINEAGE_TYPES]-(m:Memory)
  WHERE type(e) IN $edge_types AND m.space = $space AND m.status <> 'retracted' AND m <> start AND NOT m IN first
  WITH DISTINCT m ORDER BY m.uid LIMIT $limit
  RETURN collect(m) AS second
}
CALL (start, first, second) {
  UNWIND CASE WHEN $depth >= 3 THEN second ELSE [] END AS n
  MATCH (n)-[e:@EDGE_TYPES|@LINEAGE_TYPES]-(m:Memory)
  WHERE type(e) IN $edge_types AND m.space = $space AND m.status <> 'retracted' AND m <> start
    AND NOT m IN first AND NOT m IN second
  WITH DISTINCT m ORDER BY m.uid LIMIT $limit
  RETURN collect(m) AS third
}
WITH start, (first + second + third)[0..$limit] AS near
CALL (start, near) {
  UNWIND [start] + near AS from
  MATCH (from)-[e:@EDGE_TYPES|@LINEAGE_TYPES]->(to:Memory)
  WHERE type(e) IN $edge_types AND (to = start OR to IN near)
  WITH from, e, to ORDER BY from.uid, to.uid, type(e) LIMIT 1000
  RETURN collect([@edge_row]) AS edges
}
CALL (start, near) {
  UNWIND [start] + near AS m
  MATCH (m)-[:MENTIONS]->(n:Entity)
  WHERE n.space = $entity_space
  RETURN collect([m.key, n.entity_key, n.label]) AS mentions
}
RETURN [m IN near | @memory] AS memories, edges, mentions;
