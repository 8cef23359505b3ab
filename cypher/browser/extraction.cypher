// A fact, its extraction, and the turns that it was read from
// Look for: a fact whose turns do not say what it says; at most fifty of the newest pairs of a fact and a turn.
WITH 'main/project:demo' AS space
MATCH (fact:Memory)-[by:EXTRACTED_BY]->(x:Extraction)-[reads:READS]->(t:Turn)
WHERE x.space = space AND fact.space = space AND t.space = space
OPTIONAL MATCH (fact)-[of:FROM_TURN]->(t)
RETURN fact, by, x, reads, of, t
ORDER BY x.decided_at DESC, fact.key, t.number
LIMIT 50;
