// name: page
// The next memories by key, in one space or in all, each with whether what repeats it agrees with it.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX m:Memory(key)
WHERE m.key > CASE WHEN $after = '' AND $space <> '' THEN $space + '|' ELSE $after END
  AND ($space = '' OR (m.key < $space + '}' AND m.space = $space))
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
       } AS has_successor
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
MATCH (k:ClaimKey)
WHERE ($space = '' OR k.space = $space) AND NOT EXISTS { (k)-[:CLAIMS]->(:Memory) }
RETURN k.key AS key
ORDER BY key
LIMIT $limit;

// name: crossing_edges
// Edges between memories of two spaces that only somebody at the database can have drawn: a fold or a promotion may
// lead to another space of its tenant.
// parameters: limit, space
MATCH (a:Memory)-[e:@EDGE_TYPES|@LINEAGE_TYPES|NEXT]->(b:Memory)
WHERE a.space <> b.space AND ($space = '' OR a.space = $space)
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
