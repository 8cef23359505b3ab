// What was said in a conversation, and what is remembered of it
// Look for: turns with no FROM_TURN arrow, which nothing was made of; at most the newest hundred turns.
WITH 'main/project:demo' AS space, 'demo' AS conversation
MATCH (t:Turn)-[said:IN]->(c:Conversation)
WHERE c.key = space + '|' + conversation AND t.status = 'active' AND t.space = space
OPTIONAL MATCH (m:Memory)-[of:FROM_TURN]->(t)
RETURN c, said, t, of, m
ORDER BY t.number DESC, m.key
LIMIT 100;
