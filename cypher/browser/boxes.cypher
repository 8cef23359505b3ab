// Boxes, what they hold, and the topic traces through them
// Look for: a box of memories that have nothing to do with each other, a trace that joins everything; the newest ten boxes.
WITH 'main/project:demo' AS space
MATCH (box:Box)
WHERE box.space = space
WITH box ORDER BY box.last_at DESC, box.key DESC LIMIT 10
OPTIONAL MATCH (box)-[holds:HOLDS]->(memory:Memory)
WHERE memory.space = box.space
OPTIONAL MATCH (box)-[of:OF_TRACE]->(trace:TopicTrace)
RETURN box, holds, memory, of, trace
ORDER BY box.last_at DESC, holds.number
LIMIT 100;
