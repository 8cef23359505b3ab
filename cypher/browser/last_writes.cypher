// The last writes, each with its trace
// Look for: who wrote (by), what became of it (events) and the first memories it names; a refused write has a code and no memory.
WITH 'main/project:demo' AS space
MATCH (t:Trace)
WHERE t.kind <> 'recall'
  AND (space IN t.spaces OR (size(t.spaces) = 0 AND t.tenant = split(space, '/')[0]))
WITH space, t ORDER BY t.created_at DESC, t.uid LIMIT 20
OPTIONAL MATCH (m:Memory)
WHERE m.uid IN [part IN split(t.events, '"uid":')[1..6] | split(part, '"')[1]] AND m.space = space
WITH t, m ORDER BY m.uid
RETURN t.created_at AS at, t.kind AS kind, t.key_id AS by, collect(m.summary) AS first_memories,
       t.events AS events, t.uid AS trace
ORDER BY at DESC, trace
LIMIT 20;
