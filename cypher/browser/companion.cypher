// A user with a persona: sessions, their messages, and what these left
// Look for: sessions whose messages left nothing, and summaries that say what no message does.
WITH 'main/user:ada/coach' AS space
MATCH (s:Session)<-[in:IN_SESSION]-(t:Turn)
WHERE s.space = space
OPTIONAL MATCH (s)-[has:HAS_SUMMARY]->(y:SessionSummary)
OPTIONAL MATCH (m:Memory)-[of:FROM_TURN]->(t)
RETURN s, in, t, has, y, m, of
ORDER BY s.last_activity_at DESC, s.key, t.number
LIMIT 50;
