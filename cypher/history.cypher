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

// name: forget_vectors
// Remove vectors of versions that were replaced before a time, at most $limit; the versions say that they had some.
// parameters: before, limit
MATCH (c:FormerChunk)
WHERE c.replaced_at < $before
WITH c ORDER BY c.replaced_at, c.key LIMIT $limit
MATCH (c)-[:OF]->(r:Revision)
SET r.vectors_forgotten = true
DETACH DELETE c
RETURN count(*) AS removed;

// name: count_vectors_before
// How many these are.
// parameters: before
MATCH (c:FormerChunk)
WHERE c.replaced_at < $before
RETURN count(*) AS old;

// name: forget_oldest_vectors
// Remove the vectors of versions that were replaced first.
// parameters: limit
MATCH (c:FormerChunk)
WHERE c.replaced_at > datetime({epochMillis: 0})
WITH c ORDER BY c.replaced_at, c.key LIMIT $limit
MATCH (c)-[:OF]->(r:Revision)
SET r.vectors_forgotten = true
DETACH DELETE c
RETURN count(*) AS removed;

// name: count_vectors
// How many vectors of earlier versions there are.
MATCH (c:FormerChunk)
RETURN count(c) AS total;
