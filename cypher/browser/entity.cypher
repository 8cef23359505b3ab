// What an entity is mentioned in
// Look for: memories about somebody else, and one person under two entities.
WITH 'main/project:demo' AS space, 'person:mira' AS entity
MATCH mention = (m:Memory)-[:MENTIONS]->(e:Entity {entity_key: entity})
WHERE m.space = space
RETURN mention
ORDER BY m.created_at DESC, m.key
LIMIT 50;
