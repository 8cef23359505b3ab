// A conversation, turn by turn
// Look for: one unbroken chain of NEXT arrows, and one LAST arrow to its end; at most the last hundred turns.
WITH 'main/project:demo' AS space, 'demo' AS conversation
MATCH turns = (c:Conversation)-[:LAST]->(:Memory)<-[:NEXT*0..99]-(first:Memory)
WHERE c.key = space + '|' + conversation AND first.space = space
RETURN turns
ORDER BY length(turns) DESC, first.key
LIMIT 1;
