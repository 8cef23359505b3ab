// name: of_space
// What the memories of a space were made from and what was made of them, by memory, behind one; between two memories
// of the space only once. A fold or a promotion may lead to another space of the tenant.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.key < $space + '}' AND EXISTS { (m)-[:@LINEAGE_TYPES]-(:Memory) }
WITH m ORDER BY m.key LIMIT $limit
RETURN m.key AS key,
       COLLECT {
         MATCH (m)-[e:@LINEAGE_TYPES]-(o:Memory)
         WHERE (o.space = m.space AND startNode(e) = m)
           OR (o.space <> m.space AND split(o.space, '/')[0] = split(m.space, '/')[0])
         WITH e, startNode(e).key AS from_key, endNode(e).key AS to_key
         RETURN [from_key, type(e), to_key, toString(e.created_at)] ORDER BY from_key, to_key, type(e)
       } AS lineage
ORDER BY key;

// name: promoted
// What memories that others stand for from now on were copied from.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (from:Memory {key: row.from_key})-[e:PROMOTED_FROM]->(origin:Memory)
RETURN row.into_key AS made, origin.key AS origin, toString(e.created_at) AS created_at
ORDER BY made, origin;

// name: draw
// Draw lineage between memories that are here, and say of each whether it is new.
// parameters: space_rows
CYPHER 25
UNWIND $space_rows AS row
MATCH (from:Memory {key: row.from_key})
MATCH (to:Memory {key: row.to_key})
WITH from, to, row, EXISTS { MATCH (from)-[known:@LINEAGE_TYPES]->(to) WHERE type(known) = row.type } AS is_known
FOREACH (_ IN CASE WHEN is_known THEN [] ELSE [1] END |
  CREATE (from)-[e:$(row.type)]->(to)
  SET e.uid = row.uid, e.weight = 1.0, e.created_at = datetime(row.created_at)
)
RETURN row.uid AS uid, NOT is_known AS is_new
ORDER BY uid;
