// The life of governed items: what took the place of what, and the traces that tell of it
// Look for: an item that left without a winner, and one that no trace tells of.
WITH 'main/session:s1' AS space
MATCH (m:GovernedItem)
WHERE m.space = space AND m.governed_phase >= 1
OPTIONAL MATCH (m)-[r:UPDATES|SUMMARY_OF|PROMOTED_FROM]-(o:GovernedItem)
OPTIONAL MATCH (t:Trace)-[told:TELLS_OF]->(m)
RETURN m, r, o, t, told
ORDER BY m.governed_tick DESC, t.created_at, o.key
LIMIT 100;
