// fragment: session
// A session as it is read.
s {.*, started_at: toString(s.started_at), last_activity_at: toString(s.last_activity_at),
   ended_at: toString(s.ended_at)}

// name: around
// The sessions of a space that had begun by a time and were active after another, the first ones first. The lock of
// the state of the space is taken before.
// parameters: active_after, at, space
MATCH (s:Session)
USING INDEX SEEK s:Session(space, last_activity_at)
WHERE s.space = $space AND s.last_activity_at >= $active_after AND s.started_at <= $at
RETURN @session AS session
ORDER BY s.started_at, s.key
LIMIT 1;

// name: save
// Write a session and the message that it holds, which waits for its judge where it is to be judged.
// parameters: claim, claimed_until, ended_at, judges, key, labels, last_activity_at, properties, started_at, turn
MERGE (s:Session {key: $key})
SET s += $properties, s.started_at = datetime($started_at), s.last_activity_at = datetime($last_activity_at),
    s.ended_at = datetime($ended_at)
REMOVE s:OpenSession:UnsummedSession
SET s:$($labels)
WITH s
MATCH (t:Turn {key: $turn})
CREATE (t)-[:IN_SESSION]->(s)
FOREACH (_ IN CASE WHEN $judges THEN [1] ELSE [] END |
  SET t:UnjudgedTurn, t.judge_claim = $claim, t.judged_by = datetime($claimed_until));

// name: find
// A session of a space.
// parameters: key
MATCH (s:Session {key: $key})
RETURN @session AS session;

// name: of_turn
// The session that a message is in.
// parameters: key
MATCH (:Turn {key: $key})-[:IN_SESSION]->(s:Session)
RETURN @session AS session
ORDER BY s.key;

// fragment: sessions_shown
// The sessions of a space.
MATCH (s:Session)
USING INDEX SEEK s:Session(space, last_activity_at)
WHERE s.space = $space AND s.last_activity_at IS NOT NULL

// name: list
// One page of the sessions of a space, the latest first.
// parameters: cursor_key, cursor_time, limit, space
@sessions_shown
  AND (s.last_activity_at < $cursor_time OR (s.last_activity_at = $cursor_time AND s.key > $cursor_key))
RETURN @session AS session
ORDER BY s.last_activity_at DESC, s.key
LIMIT $limit;

// name: count
// How many sessions a list shows on all its pages.
// parameters: space
@sessions_shown
RETURN count(s) AS total;

// name: unjudged
// Which of some messages wait for their judge.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (t:Turn {key: key})
WHERE t:UnjudgedTurn
RETURN key
ORDER BY key;
