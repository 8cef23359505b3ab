// name: page
// The next memories by key, in one space or in all, each with whether what repeats it agrees with it.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space AND m.key > $after
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities,
       m.space_token AS tokens,
       EXISTS { (:Chunk)-[:OF]->(m) } AS has_vectors,
       EXISTS {
         MATCH (c:Chunk)-[:OF]->(m)
         WHERE c.space <> m.space OR c.status <> m.status OR c.expires_at <> m.expires_at OR c.type <> m.type
       } OR EXISTS {
         MATCH (m)-[x:MENTIONS]->(:Entity)
         WHERE coalesce(x.space <> m.space OR x.status <> m.status OR x.expires <> m.expires_at
           OR x.weight <> @mention_weight, true)
       } AS has_stale_copies,
       EXISTS {
         MATCH (m)<-[e:UPDATES|PROMOTED_FROM]-(n:Memory)
         WHERE n.space = m.space OR (type(e) = 'PROMOTED_FROM' AND split(n.space, '/')[0] = split(m.space, '/')[0])
       } AS has_successor,
       EXISTS { (m)-[:MENTIONS]->(:Entity)-[:MERGED_INTO]->(:Entity) } AS mentions_merged,
       COLLECT {
         MATCH (m)-[:NEXT]-{1,2}(t:Memory)
         WHERE m.context_built AND t.status <> 'active'
         RETURN DISTINCT [t.content, t.actor] LIMIT 10
       } AS quiet_turns,
       COLLECT {
         MATCH (m)-[:FOLDED_FROM|SUMMARY_OF]->(o:Memory)
         WHERE m.status = 'active' AND o.space = m.space AND o.status IN ['retracted', 'superseded']
         RETURN [o.key, o.content] ORDER BY o.key LIMIT 100
       } AS gone_members
ORDER BY m.key;

// name: unclaimed
// Those of some claims that point to no memory.
// parameters: claims
UNWIND $claims AS claim
OPTIONAL MATCH (k:ClaimKey {key: claim})
WITH claim, k
WHERE k IS NULL OR NOT EXISTS { (k)-[:CLAIMS]->(:Memory) }
RETURN claim
ORDER BY claim;

// name: empty_claims
// Claim keys that point to no memory, in one space or in all.
// parameters: limit, space
MATCH (m:ClaimKey)
USING INDEX SEEK m:ClaimKey(key)
WHERE @in_space AND NOT EXISTS { (m)-[:CLAIMS|RETRACTED]->(:Memory) }
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: crossing_edges
// Edges between memories of two spaces that only somebody at the database can have drawn: a fold or a promotion may
// lead to another space of its tenant.
// parameters: limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space
MATCH (m)-[e:@EDGE_TYPES|@LINEAGE_TYPES|NEXT]->(b:Memory)
WITH m AS a, e, b
WHERE a.space <> b.space
  AND NOT (type(e) IN ['FOLDED_FROM', 'PROMOTED_FROM'] AND split(a.space, '/')[0] = split(b.space, '/')[0])
RETURN a.key AS key, a.space AS space, a.uid AS uid, type(e) AS type, elementId(e) AS id
ORDER BY key, type, b.key
LIMIT $limit;

// name: remove_edges
// Remove edges between memories of two spaces; each row names the space that its edge starts in.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (a:Memory)-[e]->(b:Memory)
WHERE elementId(e) = row.id AND a.space = row.space AND b.space <> a.space
DELETE e;

// name: edges_of_one_uid
// Edges that share their uid with an older one of their space, each with where it stands.
// parameters: limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE @in_space
MATCH (m)-[e:@EDGE_TYPES]->(b:Memory)
WITH m AS a, e, b
WHERE b.space = a.space AND e.uid IS NOT NULL
WITH a.space AS space, e.uid AS edge_uid, e, a, b
ORDER BY coalesce(e.created_at, datetime({epochMillis: 0})), a.key, b.key, type(e)
WITH space, edge_uid, collect([e, a, b]) AS found
WHERE size(found) > 1
UNWIND found[1..] AS row
WITH space, edge_uid, row[0] AS e, row[1] AS a, row[2] AS b,
     found[0][1] = row[1] AND found[0][2] = row[2] AND type(found[0][0]) = type(row[0]) AS is_double
RETURN a.key AS key, space, edge_uid AS uid, type(e) AS type, elementId(e) AS id, is_double, b.key AS to_key
ORDER BY space, uid, key, to_key, type
LIMIT $limit;

// name: part_edges
// Give edges that share their uid with another one of their space a uid of their own; one at the same place goes.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (a:Memory)-[e]->(:Memory)
WHERE elementId(e) = row.id AND a.space = row.space
FOREACH (_ IN CASE WHEN row.is_double THEN [1] ELSE [] END | DELETE e)
FOREACH (_ IN CASE WHEN row.is_double THEN [] ELSE [1] END | SET e.uid = randomUUID());

// name: values_at_one_instant
// Values of one logical key of a space that hold at one instant: the later one of each pair, with its key.
// parameters: limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, logical_key)
WHERE @space_in_range AND m.logical_key IS NOT NULL AND m.status IN ['active', 'superseded']
WITH m, coalesce(m.valid_from, m.occurred_at, m.created_at) AS began
WHERE coalesce(m.valid_until > began, true)
WITH m.space AS space, m.logical_key AS logical_key, coalesce(m.kept_by, '') AS kept_by, m, began
ORDER BY began, m.created_at, m.key
WITH space, logical_key, kept_by, collect([m, began]) AS values
WHERE size(values) > 1
UNWIND range(1, size(values) - 1) AS number
WITH values[number - 1][0] AS earlier, values[number][0] AS later, values[number][1] AS began
WHERE earlier.valid_until IS NULL OR earlier.valid_until > began
RETURN later.key AS key
ORDER BY key
LIMIT $limit;
