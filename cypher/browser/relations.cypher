// How an entity stands to others
// Look for: relations whose until has passed; at most a hundred.
WITH 'main/project:demo' AS space, 'person:mira' AS entity
MATCH (e:Entity)-[r:RELATION]-(other:Entity)
WHERE e.key = space + '|' + entity AND r.space = space
RETURN e, r, other
ORDER BY r.created_at, r.uid
LIMIT 100;
