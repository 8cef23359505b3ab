// The history of a career corpus: its revisions, the documents in which each differs from the next, the proved one
// Look for: a newest revision that is not the proved one, and one that is marked as failed.
WITH 'main/corpus:ada' AS space
MATCH (r:CorpusRepository {key: space})
MATCH (c:CorpusCommit)
WHERE c.space = space AND c.revision >= 1
OPTIONAL MATCH (c)-[h:HOLDS]->(d:CorpusDocument)
OPTIONAL MATCH (c)-[p:PARENT]->(b:CorpusCommit)
OPTIONAL MATCH (r)-[at:HEAD|VERIFIED]->(c)
RETURN r, at, c, p, b, h, d
ORDER BY c.revision DESC, h.path, d.key, type(at)
LIMIT 200;
