// name: lock_unjudged
// Take the lock of a message, if it still waits for a judge.
// parameters: space_key
MATCH (t:Turn {key: $space_key})
SET t.locked = true
REMOVE t.locked
WITH t WHERE t:UnjudgedTurn
RETURN t {@turn_head} AS turn, t.judge_claim AS claim;

// name: note_judged
// A message is judged.
// parameters: space_key
MATCH (t:Turn {key: $space_key})
REMOVE t:UnjudgedTurn, t.judged_by, t.judge_claim;

// name: claim
// Let one judge have a message that waits, unless another has it now.
// parameters: claim, now, space_key, until
MATCH (t:Turn {key: $space_key})
SET t.locked = true
REMOVE t.locked
WITH t WHERE t:UnjudgedTurn AND coalesce(t.judged_by <= $now, true)
SET t.judge_claim = $claim, t.judged_by = $until
RETURN t {.content, .metadata, .native, @turn_head} AS turn;

// name: waiting
// The next messages that wait for a judge and that nobody has now, in the order of their arrival.
// parameters: cursor_key, cursor_time, limit, now
MATCH (t:UnjudgedTurn)
WHERE t.recorded_at >= $cursor_time AND (t.recorded_at > $cursor_time OR t.key > $cursor_key)
  AND coalesce(t.judged_by <= $now, true)
RETURN t.key AS key, toString(t.recorded_at) AS recorded_at, t.space AS space
ORDER BY t.recorded_at, t.key
LIMIT $limit;

// name: before
// The messages of users in a conversation up to a time and behind another, the latest first.
// parameters: after, before, limit, space_key
MATCH (t:Turn)
WHERE t.conversation = $space_key AND t.role = 'user' AND t.status = 'active' AND t.at >= $after AND t.at <= $before
RETURN t {.content, .metadata, .native, @turn_head} AS turn
ORDER BY t.at DESC, t.number DESC
LIMIT $limit;
