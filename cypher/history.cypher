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
// What a memory replaced or was made from, and what replaced it or was made from it, within its space.
// parameters: space_key
MATCH (m:Memory {key: $space_key})-[e:UPDATES|FOLDED_FROM|PROMOTED_FROM|SUMMARY_OF]-(o:Memory)
WHERE o.space = m.space
RETURN [e.uid, startNode(e).uid, endNode(e).uid, type(e), e.weight, toString(e.created_at), e.reason, e.link_type] AS edge
ORDER BY e.created_at DESC, edge[0]
LIMIT 200;

// name: revision_at
// The version of a memory that was in force at a moment, where it is not the present one.
// parameters: moment, space_key
MATCH (:Memory {key: $space_key})-[:HAS_REVISION]->(r:Revision)
WHERE r.replaced_at > $moment
RETURN r.memory AS memory
ORDER BY r.version
LIMIT 1;

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
RETURN m {
  .*, search_text: null, search_context: null, space_token: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at)
} AS m,
       COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key } AS entities
ORDER BY m.key
LIMIT 500;
