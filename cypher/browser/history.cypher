// Earlier versions of memories
// Look for: version 1, 2, 3 without a gap around each memory, and the former vectors at the revision they were made for.
WITH 'main/project:demo' AS space
MATCH (m:Memory)-[has:HAS_REVISION]->(r:Revision)
WHERE m.space = space
OPTIONAL MATCH (chunk:FormerChunk)-[of:OF]->(r)
RETURN m, has, r, of, chunk
ORDER BY r.replaced_at DESC, r.key, chunk.key
LIMIT 100;
