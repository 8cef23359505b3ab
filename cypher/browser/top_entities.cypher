// The entities that are mentioned most
// Look for: two lines for one person, place or project, and entities that only put-away memories mention.
WITH 'main/project:demo' AS space
MATCH (m:Memory)-[:MENTIONS]->(e:Entity)
WHERE m.space = space
RETURN e.entity_key AS entity, e.label AS label, count(*) AS mentions,
       sum(CASE m.status WHEN 'active' THEN 1 ELSE 0 END) AS in_active_memories, max(m.created_at) AS last_mention
ORDER BY mentions DESC, entity
LIMIT 25;
