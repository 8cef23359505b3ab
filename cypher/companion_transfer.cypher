// name: is_unrolled
// Whether the rolling summary of a user with a persona is to be made anew.
// parameters: space
MATCH (t:SessionState {key: $space})
RETURN t:UnrolledState AS is_unrolled;

// name: note_unrolled
// The rolling summary of a user with a persona is to be made anew.
// parameters: space
MATCH (t:SessionState {key: $space})
SET t:UnrolledState;

// name: sessions
// The sessions of a space by key, for an export: each with its messages, which of these wait for a judge, its summary,
// and the memories of the space of the user that are led back to them.
// parameters: after, limit, owner, space
MATCH (s:Session)
USING INDEX SEEK s:Session(key)
WHERE s.key STARTS WITH $space + '|' AND s.key > $after
WITH s ORDER BY s.key LIMIT $limit
RETURN s.key AS key, @session AS session, s:UnsummedSession AS is_unsummed,
       COLLECT {
         MATCH (s)<-[:IN_SESSION]-(t:Turn)
         WHERE t.status = 'active'
         RETURN [t.uid, t:UnjudgedTurn] ORDER BY t.number, t.key
       } AS turns,
       COLLECT {
         MATCH (s)-[:HAS_SUMMARY]->(y:SessionSummary)
         WHERE y.summary IS NOT NULL
         RETURN @session_summary ORDER BY y.key
       } AS summaries,
       COLLECT {
         MATCH (s)<-[:IN_SESSION]-(t:Turn)<-[f:FROM_TURN]-(m:Memory)
         WHERE t.status = 'active' AND m.space = $owner
         RETURN [t.uid, m.uid, f.said_by, f.words] ORDER BY t.number, t.key, m.key, f.said_by
       } AS left
ORDER BY key;

// name: rolling_summaries
// The rolling summaries of a space by key, for an export, each with the messages that it rests on.
// parameters: after, limit, space
MATCH (r:RollingSummary)
USING INDEX SEEK r:RollingSummary(key)
WHERE r.key STARTS WITH $space + '|' AND r.key > $after AND r.text IS NOT NULL
WITH r ORDER BY r.key LIMIT $limit
RETURN r.key AS key, @rolling AS rolling, COLLECT {
  MATCH (r)-[:RESTS_ON]->(t:Turn)
  WHERE t.status = 'active'
  RETURN t.uid ORDER BY t.number, t.key
} AS turns
ORDER BY key;

// name: spines
// The parts of the long summary of a user in a space by key, for an export.
// parameters: after, limit, space
MATCH (v:SummarySpine)
USING INDEX SEEK v:SummarySpine(key)
WHERE v.key STARTS WITH $space + '|' AND v.key > $after
RETURN v.key AS key, @spine AS spine
ORDER BY key
LIMIT $limit;

// name: take_in_sessions
// Write sessions that another store kept, where they are not here, with their summaries; each with whether it is new.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:Session {key: row.key})
WITH row, known IS NULL AS is_new
CALL (row, is_new) {
  WITH row WHERE is_new
  MERGE (s:Session {key: row.key})
  SET s += row.properties, s.started_at = datetime(row.started_at), s.ended_at = datetime(row.ended_at),
      s.last_activity_at = datetime(row.last_activity_at), s:$(row.labels)
  WITH s, row
  UNWIND row.summaries AS summary
  MERGE (y:SessionSummary {key: row.key})
  SET y += summary.properties, y.created_at = datetime(summary.created_at)
  MERGE (s)-[:HAS_SUMMARY]->(y)
}
RETURN row.key AS key, is_new
ORDER BY key;

// name: join_sessions
// Let messages of a conversation that are here and in no session be in theirs, and wait for a judge where they did; how
// many came to each session.
// parameters: space_key, space_rows
UNWIND $space_rows AS row
MATCH (t:Turn {key: row.turn})
WHERE t.conversation = $space_key AND t.status = 'active' AND NOT EXISTS { (t)-[:IN_SESSION]->(:Session) }
MATCH (s:Session {key: row.session})
MERGE (t)-[:IN_SESSION]->(s)
FOREACH (_ IN CASE WHEN row.waits AND t.role = 'user' THEN [1] ELSE [] END | SET t:UnjudgedTurn)
RETURN s.key AS key, count(t) AS joined
ORDER BY key;

// name: lead_back
// Let memories that a room keeps be of messages of a conversation that they are not yet of, as far as both are here;
// which ones came to be so, with the sessions. Each message that a memory is of mentions it.
// parameters: kept_by, space_key, space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
MATCH (t:Turn {key: row.turn})
WHERE m.kept_by = $kept_by AND t.conversation = $space_key AND t.status = 'active'
  AND NOT EXISTS { MATCH (m)-[f:FROM_TURN]->(t) WHERE f.said_by = row.said_by }
MERGE (m)-[f:FROM_TURN {said_by: row.said_by}]->(t)
SET f.words = row.words
WITH DISTINCT row.session AS key, m
WITH key, m, COUNT { MATCH (m)-[:FROM_TURN]->(t:Turn) RETURN DISTINCT t } AS messages
SET m.mention_count = CASE WHEN m.mention_count > messages THEN m.mention_count ELSE messages END
RETURN key, m.key AS memory
ORDER BY key, memory;

// name: take_in_rolling
// Write rolling summaries that another store kept, where they are not here, and let them rest on the messages of a
// conversation that are; each with whether anything came to it.
// parameters: space_key, space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:RollingSummary {key: row.key})
WITH row, known IS NULL AS is_new
CALL (row, is_new) {
  WITH row WHERE is_new
  MERGE (r:RollingSummary {key: row.key})
  SET r += row.properties, r.created_at = datetime(row.created_at)
}
CALL (row) {
  UNWIND row.turns AS key
  MATCH (t:Turn {key: key})
  WHERE t.conversation = $space_key AND t.status = 'active'
  MATCH (r:RollingSummary {key: row.key})
  WHERE r.text IS NOT NULL AND NOT EXISTS { (r)-[:RESTS_ON]->(t) }
  MERGE (r)-[:RESTS_ON]->(t)
  RETURN count(t) AS added
}
RETURN row.key AS key, is_new OR added > 0 AS is_new
ORDER BY key;

// name: take_in_spines
// Write parts of long summaries that another store kept, where they are not here, and let those that still say the same
// rest on the memories that are; each with whether anything came to it.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:SummarySpine {key: row.key})
WITH row, known IS NULL AS is_new
CALL (row, is_new) {
  WITH row WHERE is_new
  MERGE (v:SummarySpine {key: row.key})
  SET v += row.properties, v.created_at = datetime(row.created_at)
}
CALL (row) {
  UNWIND row.memories AS key
  MATCH (m:Memory {key: key})
  MATCH (v:SummarySpine {key: row.key})
  WHERE v.sections = row.properties.sections AND NOT EXISTS { (v)-[:RESTS_ON]->(m) }
  MERGE (v)-[:RESTS_ON]->(m)
  RETURN count(m) AS added
}
RETURN row.key AS key, is_new OR added > 0 AS is_new
ORDER BY key;

// name: raise_version
// Let the next version of the long summary of a user, who is locked, come behind one that is here.
// parameters: space, version
MATCH (u:User {key: $space})
WHERE coalesce(u.spine_version, 0) < $version
SET u.spine_version = $version;
