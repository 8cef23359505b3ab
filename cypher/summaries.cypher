// fragment: rolling
// A rolling summary, as it is read.
r {.*, created_at: toString(r.created_at)}

// name: save_rolling
// Keep a rolling summary and the messages that it rests on; earlier ones stay.
// parameters: created_at, key, properties, turns
CREATE (r:RollingSummary {key: $key})
SET r += $properties, r.created_at = datetime($created_at)
WITH r
UNWIND $turns AS key
MATCH (t:Turn {key: key})
CREATE (r)-[:RESTS_ON]->(t);

// fragment: rolling_shown
// The rolling summaries of a space.
MATCH (r:RollingSummary)
USING INDEX SEEK r:RollingSummary(space, created_at)
WHERE r.space = $space AND r.created_at IS NOT NULL AND r.text IS NOT NULL

// name: forget_retracted
// Sessions that have ended, and whose messages said what was retracted, are summed up anew.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (:Memory {key: key})-[:FROM_TURN]->(:Turn)-[:IN_SESSION]->(s:Session)
WHERE s.ended_at IS NOT NULL
WITH DISTINCT s
SET s:UnsummedSession
WITH s
MATCH (s)-[:HAS_SUMMARY]->(y:SessionSummary)
REMOVE y.summary;

// name: active_turns
// How many of some messages are active, under their locks.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (t:Turn {key: key})
SET t.locked = true
REMOVE t.locked
WITH t WHERE t.status = 'active'
RETURN count(t) AS active;

// name: list_rolling
// One page of the rolling summaries of a space, the newest first.
// parameters: cursor_key, cursor_time, limit, space
@rolling_shown
  AND (r.created_at < $cursor_time OR (r.created_at = $cursor_time AND r.key > $cursor_key))
RETURN @rolling AS rolling
ORDER BY r.created_at DESC, r.key
LIMIT $limit;

// name: count_rolling
// How many rolling summaries a list shows on all its pages.
// parameters: space
@rolling_shown
RETURN count(r) AS total;

// name: latest_messages
// The latest messages of a conversation by one of its sides.
// parameters: limit, role, space_key
MATCH (t:Turn)
WHERE t.conversation = $space_key AND t.status = 'active' AND t.at > datetime({year: 1}) AND t.role = $role
WITH t ORDER BY t.at DESC, t.number DESC LIMIT $limit
RETURN t {.content, .metadata, .native, @turn_head} AS turn
ORDER BY t.at DESC, t.number DESC;

// name: stale
// The next open sessions that were last active before a time; of one space if one is named.
// parameters: before, cursor_key, cursor_time, limit, space
MATCH (s:OpenSession)
WHERE s.last_activity_at >= $cursor_time AND s.last_activity_at < $before
  AND (s.last_activity_at > $cursor_time OR s.key > $cursor_key) AND ($space = '' OR s.space = $space)
RETURN s.key AS key, toString(s.last_activity_at) AS last_activity_at
ORDER BY s.last_activity_at, s.key
LIMIT $limit;

// name: unsummed
// The next sessions that have ended and wait for their summary, once all in them is judged; of one space if one is
// named.
// parameters: cursor_key, cursor_time, limit, space
MATCH (s:UnsummedSession)
WHERE s.last_activity_at >= $cursor_time AND (s.last_activity_at > $cursor_time OR s.key > $cursor_key)
  AND ($space = '' OR s.space = $space) AND NOT EXISTS { MATCH (s)<-[:IN_SESSION]-(:UnjudgedTurn) }
RETURN s.key AS key, toString(s.last_activity_at) AS last_activity_at
ORDER BY s.last_activity_at, s.key
LIMIT $limit;

// name: lock_session
// Take the lock of a session, and read what says whether it waits for a summary.
// parameters: key
MATCH (s:Session {key: $key})
SET s.locked = true
REMOVE s.locked
RETURN @session AS session, s:UnsummedSession AS waits;

// name: end_session
// A session has ended, and waits for its summary.
// parameters: ended_at, key
MATCH (s:Session {key: $key})
SET s.ended_at = datetime($ended_at), s:UnsummedSession
REMOVE s:OpenSession;

// name: messages_of_session
// The latest messages of a session by one of its sides.
// parameters: space_key, limit, role
MATCH (:Session {key: $space_key})<-[:IN_SESSION]-(t:Turn)
WHERE t.status = 'active' AND t.role = $role
WITH t ORDER BY t.at DESC, t.number DESC LIMIT $limit
RETURN t {.content, .metadata, .native, @turn_head} AS turn
ORDER BY t.at DESC, t.number DESC;

// name: judged_in_session
// What was judged of the messages of a session and still holds, or ended since: memories and todos, oldest first.
// parameters: space_key, kept_by, limit
MATCH (:Session {key: $space_key})<-[:IN_SESSION]-(t:Turn)<-[:FROM_TURN]-(m:Memory)
WHERE t.status = 'active' AND m.kept_by = $kept_by AND m.status IN ['active', 'archived']
WITH DISTINCT m ORDER BY m.created_at, m.key LIMIT $limit
RETURN @memory AS m
ORDER BY m.created_at, m.key;

// name: save_summary
// Keep the summary of a session instead of the one before.
// parameters: created_at, key, properties
MATCH (s:Session {key: $key})
MERGE (s)-[:HAS_SUMMARY]->(y:SessionSummary {key: $key})
SET y += $properties, y.created_at = datetime($created_at)
REMOVE s:UnsummedSession;

// name: find_summary
// The summary of a session.
// parameters: key
MATCH (y:SessionSummary {key: $key})
WHERE y.summary IS NOT NULL
RETURN @session_summary AS summary;

// name: weighty
// The memories of a room that matter most, of those under keys that begin so: the newest of equal ones first.
// parameters: kept_by, limit, prefix, space, types
MATCH (m:Memory)
USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
WHERE m.kept_by = $kept_by AND m.space = $space AND m.type IN $types AND m.status = 'active'
  AND m.created_at > datetime({year: 1}) AND m.logical_key STARTS WITH $prefix
WITH m ORDER BY m.importance DESC, m.created_at DESC, m.key LIMIT $limit
RETURN @memory AS m
ORDER BY m.importance DESC, m.created_at DESC, m.key;

// name: pending_of_all
// The newest open todos of a user with each of his personas.
// parameters: kept_by, limit, space, space_prefix
MATCH (x:Space)
WHERE x.key STARTS WITH $space_prefix AND x.key <> $space
CALL (x) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
  WHERE m.kept_by = $kept_by AND m.space = x.key AND m.type = 'Todo' AND m.status = 'active'
    AND m.created_at > datetime({year: 1})
  WITH m ORDER BY m.created_at DESC, m.key LIMIT $limit
  RETURN m
}
RETURN @memory AS m
ORDER BY m.key;

// name: save_spine
// Keep a version of the long summary, each part in its space, and what its lines rest on.
// parameters: created_at, space_rows
UNWIND $space_rows AS row
CREATE (v:SummarySpine {key: row.key})
SET v += row.properties, v.created_at = datetime($created_at)
WITH v, row
UNWIND row.memories AS key
MATCH (m:Memory {key: key})
CREATE (v)-[:RESTS_ON]->(m);

// name: spine
// The parts of a version of the long summary in some spaces, or of the latest one.
// parameters: spaces, version
MATCH (v:SummarySpine)
USING INDEX SEEK v:SummarySpine(space, version)
WHERE v.space IN $spaces AND v.version > 0 AND ($version = 0 OR v.version = $version)
WITH v ORDER BY v.version DESC, v.key LIMIT 2
RETURN @spine AS spine
ORDER BY v.version DESC, v.key;

// name: spines_on
// The parts of spines that rest on some memories, and for what was folded the memory that says it now.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})<-[:RESTS_ON]-(v:SummarySpine)
OPTIONAL MATCH (m)<-[:FOLDED_FROM]-(f:Memory {status: 'active', space: m.space})
WITH v, m, f ORDER BY v.key, m.key, f.key
SET v.locked = true
REMOVE v.locked
RETURN v.key AS key, @spine AS spine, collect([m.uid, f.uid, f.content, f.key]) AS memories
ORDER BY key;

// name: save_sections
// Write what is left of parts of spines; what took a line over is what it rests on now.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (v:SummarySpine {key: row.key})
SET v.sections = row.sections
WITH v, row
UNWIND row.memories AS key
MATCH (m:Memory {key: key})
MERGE (v)-[:RESTS_ON]->(m);

// name: forget_messages
// Messages that were taken back wait for no judge, and no summary states them: those of sessions and rolling ones that
// rest on them are made anew.
// A model may have copied from summaries before, so those that one made since are forgotten as well.
// parameters: chars, every, space_keys
UNWIND $space_keys AS key
MATCH (t:Turn {key: key})
REMOVE t:UnjudgedTurn, t.judged_by, t.judge_claim
WITH t
CALL (t) {
  MATCH (t)-[:IN_SESSION]->(s:Session)
  SET s.turn_count = s.turn_count - CASE t.role WHEN 'user' THEN 1 ELSE 0 END
  FOREACH (_ IN CASE WHEN s.ended_at IS NULL THEN [] ELSE [1] END | SET s:UnsummedSession)
  WITH s
  MATCH (s)-[:HAS_SUMMARY]->(y:SessionSummary)
  REMOVE y.summary
}
CALL (t) {
  MATCH (x:SessionState {key: t.space})
  WHERE t.role = 'user' AND x.last_user_at = t.at
  OPTIONAL CALL (t) {
    MATCH (u:Turn)
    WHERE u.conversation = t.conversation AND u.role = 'user' AND u.status = 'active'
      AND u.at > datetime({year: 1}) AND NOT u.key IN $space_keys
    WITH u ORDER BY u.at DESC, u.number DESC LIMIT 1
    RETURN u
  }
  SET x.last_user_at = u.at, x.last_user_message = left(u.content, $chars)
}
CALL (t) {
  MATCH (r:RollingSummary)
  WHERE r.space = t.space AND r.created_at >= t.recorded_at AND r.text IS NOT NULL
    AND (r.model <> 'rules' OR EXISTS { (t)<-[:RESTS_ON]-(r) })
  WITH r, r.text AS said
  REMOVE r.text
  WITH r, said
  MATCH (x:SessionState {key: r.space})
  WHERE x.rolling_summary = said
  REMOVE x.rolling_summary
  SET x:UnrolledState, x.rolled_count = CASE WHEN x.rolled_count > $every THEN x.rolled_count - $every ELSE 0 END
};

// name: unrolled
// The next users with a persona whose rolling summary is to be made anew; of one space if one is named.
// parameters: after, limit, space
MATCH (x:UnrolledState)
WHERE x.key > $after AND ($space = '' OR x.space = $space)
RETURN x.key AS key
ORDER BY key
LIMIT $limit;
