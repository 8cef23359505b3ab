// fragment: spine
// A version of the long summary, as it is read.
v {.*, created_at: toString(v.created_at)}

// fragment: session_summary
// The summary of a session, as it is read.
y {.*, created_at: toString(y.created_at)}

// name: read
// All that a context is made of beside what is found for its message: the persona, the user, what lasts of both, the
// latest session and the latest one with a summary, the latest spine, the oldest open todos, the latest commitments
// that were kept, and the latest messages.
// parameters: conversation, kept_by, messages, owner, persona, space, todos, wins, wins_after
RETURN
  COLLECT { MATCH (p:Persona {key: $persona}) WHERE p.created_at IS NOT NULL RETURN @persona } AS personas,
  COLLECT { MATCH (u:User {key: $owner}) RETURN {user: @user, seed: @seed} } AS users,
  COLLECT { MATCH (t:SessionState {key: $space}) RETURN @state } AS states,
  COLLECT {
    MATCH (s:Session)
    WHERE s.space = $space AND s.last_activity_at > datetime({year: 1})
    RETURN @session ORDER BY s.last_activity_at DESC, s.key LIMIT 1
  } AS sessions,
  COLLECT {
    MATCH (s:Session)-[:HAS_SUMMARY]->(y:SessionSummary)
    WHERE s.space = $space AND s.last_activity_at > datetime({year: 1}) AND s.ended_at IS NOT NULL
      AND y.summary IS NOT NULL
    RETURN {session: @session, summary: @session_summary} ORDER BY s.last_activity_at DESC, s.key LIMIT 1
  } AS summaries,
  COLLECT {
    MATCH (v:SummarySpine)
    WHERE v.space IN [$owner, $space] AND v.version > 0
    RETURN @spine ORDER BY v.version DESC, v.key LIMIT 2
  } AS spines,
  COLLECT {
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
    WHERE m.kept_by = $kept_by AND m.space = $space AND m.type = 'Todo' AND m.status = 'active'
      AND m.created_at > datetime({year: 1})
    WITH m ORDER BY m.created_at, m.key LIMIT $todos
    RETURN @memory ORDER BY m.created_at, m.key
  } AS pending,
  COLLECT {
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
    WHERE m.kept_by = $kept_by AND m.space = $space AND m.type = 'Todo' AND m.status = 'archived'
      AND m.created_at > datetime({year: 1}) AND m.status_reason = 'completed' AND m.status_at >= $wins_after
      AND m.logical_key STARTS WITH 'todo|commitment|'
    WITH m ORDER BY m.status_at DESC, m.key LIMIT $wins
    RETURN @memory ORDER BY m.status_at DESC, m.key
  } AS wins,
  COLLECT {
    MATCH (t:Turn)
    WHERE t.conversation = $conversation AND t.status = 'active' AND t.at > datetime({year: 1})
    WITH t ORDER BY t.at DESC, t.number DESC LIMIT $messages
    RETURN t {.content, .metadata, .native, @turn_head} ORDER BY t.at DESC, t.number DESC
  } AS turns;
