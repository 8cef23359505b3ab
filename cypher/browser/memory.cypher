// A memory with its chunks, claims, entities, further sources and revisions
// Look for: one chunk for the whole text and one for each sentence if there are more; a claim for each way to know it again.
WITH 'main/project:demo' AS space, 'kiln' AS word
MATCH (m:Memory)
WHERE m.space = space AND toLower(m.content) CONTAINS toLower(word)
WITH m ORDER BY m.updated_at DESC, m.key LIMIT 1
OPTIONAL MATCH part = (m)-[:OF|CLAIMS|MENTIONS|FROM|HAS_REVISION]-(thing)
RETURN m, part
ORDER BY type(relationships(part)[0]), thing.key
LIMIT 100;
