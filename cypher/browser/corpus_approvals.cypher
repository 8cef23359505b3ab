// What approvals of a career corpus covered: each section, and its documents in the proved revision
// Look for: a section with documents and without an approval, and one whose last word was no.
WITH 'main/corpus:ada' AS space
MATCH (r:CorpusRepository {key: space})-[has:HAS_APPROVAL]->(a:CorpusApproval)
OPTIONAL MATCH (r)-[at:VERIFIED]->(c:CorpusCommit)-[h:HOLDS]->(d:CorpusDocument)
WHERE h.path STARTS WITH 'corpus_' + CASE a.section WHEN 'projects' THEN 'project_' ELSE a.section END
RETURN r, has, a, at, c, h, d
ORDER BY a.number, h.path, d.key
LIMIT 200;
