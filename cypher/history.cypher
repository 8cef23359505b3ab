// name: revisions
// Earlier versions of one memory, newest first, behind the version that the last page ended at.
// parameters: behind, limit, space_key
MATCH (:Memory {key: $space_key})-[:HAS_REVISION]->(r:Revision)
WHERE r.version < $behind
RETURN r.version AS version, r.memory AS memory, toString(r.replaced_at) AS replaced_at
ORDER BY version DESC
LIMIT $limit;

// name: revision_count
// How many earlier versions a memory has.
// parameters: space_key
RETURN COUNT { (:Memory {key: $space_key})-[:HAS_REVISION]->(:Revision) } AS total;

// name: lineage
// What a memory replaced or was made from, and what replaced it or was made from it, each with the space of the other
// end: a fold or a promotion may lead to another space of its tenant.
// parameters: space_key
MATCH (m:Memory {key: $space_key})-[e:UPDATES|@LINEAGE_TYPES]-(o:Memory)
WHERE o.space = m.space
  OR (type(e) IN ['FOLDED_FROM', 'PROMOTED_FROM'] AND split(o.space, '/')[0] = split(m.space, '/')[0])
WITH startNode(e) AS from, e, endNode(e) AS to, o.space AS space
RETURN [@edge_row] AS edge, space
ORDER BY e.created_at DESC, edge[0]
LIMIT 200;

// name: revision_at
// The version of a memory that was in force at a moment, where it is not the present one.
// parameters: known_at, space_key
MATCH (m:Memory {key: $space_key})
@version_then
WITH r WHERE r IS NOT NULL
RETURN r.memory AS memory;

// name: last_active
// The last earlier version in which a memory was active.
// parameters: space_key
MATCH (:Memory {key: $space_key})-[:HAS_REVISION]->(r:Revision)
WHERE r.status = 'active'
RETURN r.memory AS memory
ORDER BY r.version DESC
LIMIT 1;

// name: folded_from
// The memories that one was folded from, within its space.
// parameters: space_key
MATCH (folded:Memory {key: $space_key})-[:FOLDED_FROM]->(m:Memory)
WHERE m.space = folded.space
RETURN @memory AS m, @entities AS entities
ORDER BY m.key
LIMIT 500;
