// name: register
// Keep what a job does, and where it is given when it runs.
// parameters: jobs
UNWIND $jobs AS job
MERGE (j:Job {name: job.name})
SET j.does = job.does, j.schedule = job.schedule, j.next_run_at = job.next_run_at;

// name: claim_slot
// Take the time of a scheduled run for one process; no row when another one took it, or a later one.
// parameters: job, slot
MERGE (j:Job {name: $job})
SET j.locked = true
REMOVE j.locked
WITH j
WHERE coalesce(j.slot, -1) < $slot
SET j.slot = $slot
RETURN j.slot AS slot;

// name: start_run
// Record that a run of a job began.
// parameters: by_hand, dry_run, holder, job, space, started_at, uid
CREATE (r:JobRun {
  uid: $uid, job: $job, dry_run: $dry_run, space: $space, by_hand: $by_hand, holder: $holder,
  started_at: $started_at, status: 'running'
})
MERGE (j:Job {name: $job})
SET j.last_started_at = $started_at;

// name: note_missed
// Record a run that never began.
// parameters: holder, job, now, uid
CREATE (r:JobRun {
  uid: $uid, job: $job, dry_run: false, space: '', by_hand: false, holder: $holder,
  started_at: $now, finished_at: $now, status: 'missed'
})
MERGE (j:Job {name: $job})
SET j.missed = coalesce(j.missed, 0) + 1;

// name: note_counts
// Record how far a run has come.
// parameters: counts, uid
MATCH (r:JobRun {uid: $uid})
WHERE r.status = 'running'
SET r.counts = $counts;

// name: finish_run
// Record how a run ended, and count it.
// parameters: counts, degraded, error, examples, finished_at, seconds, status, uid
CYPHER 25
MATCH (r:JobRun {uid: $uid})
WHERE r.status = 'running'
SET r.status = $status, r.counts = $counts, r.examples = $examples,
  r.degraded = $degraded, r.error = $error, r.finished_at = $finished_at
WITH r
MERGE (j:Job {name: r.job})
SET j[$status] = coalesce(j[$status], 0) + 1, j.last_seconds = $seconds
FOREACH (_ IN CASE WHEN $status = 'succeeded' THEN [1] ELSE [] END | SET j.last_succeeded_at = $finished_at);

// name: abandon_runs
// Mark runs of a job, in one space or everywhere, that never ended; called by the holder of that lease.
// parameters: job, now, space
MATCH (r:JobRun)
USING INDEX SEEK r:JobRun(status, job)
WHERE r.status = 'running' AND r.job = $job AND r.space = $space
SET r.status = 'abandoned', r.finished_at = $now
WITH count(*) AS abandoned
MERGE (j:Job {name: $job})
SET j.abandoned = coalesce(j.abandoned, 0) + abandoned
RETURN abandoned;

// name: runs
// One page of the runs of a job, newest first: of all of them, or of those in single spaces that a caller may see.
// parameters: cursor_time, cursor_uid, every, job, limit, space_patterns
MATCH (r:JobRun {job: $job})
WHERE ($every OR any(pattern IN $space_patterns WHERE r.space =~ pattern))
  AND (r.started_at < $cursor_time OR (r.started_at = $cursor_time AND r.uid < $cursor_uid))
RETURN r
ORDER BY r.started_at DESC, r.uid DESC
LIMIT $limit;

// name: count_runs
// How many runs a list shows on all its pages.
// parameters: every, job, space_patterns
MATCH (r:JobRun {job: $job})
WHERE $every OR any(pattern IN $space_patterns WHERE r.space =~ pattern)
RETURN count(r) AS total;

// name: run
// One run.
// parameters: uid
MATCH (r:JobRun {uid: $uid})
RETURN r;

// name: states
// What is known of each job, with who runs it and its last run.
// parameters: now
MATCH (j:Job)
OPTIONAL MATCH (l:Lease {name: 'job:' + j.name})
WHERE l.expires_at > $now
CALL (j) {
  OPTIONAL MATCH (r:JobRun {job: j.name})
  WHERE r.started_at > datetime({epochMillis: 0})
  RETURN r ORDER BY r.started_at DESC, r.uid DESC LIMIT 1
}
RETURN j, l.holder AS holder, r
ORDER BY j.name;

// name: forget_runs
// Remove records of runs that ended, from before a time, at most $limit.
// parameters: before, limit
MATCH (r:JobRun)
WHERE r.started_at < $before AND r.status <> 'running'
WITH r ORDER BY r.started_at, r.uid LIMIT $limit
DELETE r
RETURN count(*) AS removed;

// name: forget_older_runs
// Remove the records of the oldest runs of each job that has more than so many, at most $limit of a job.
// parameters: limit, most
MATCH (j:Job)
CALL (j) {
  MATCH (r:JobRun {job: j.name})
  WHERE r.started_at > datetime({epochMillis: 0})
  WITH r ORDER BY r.started_at DESC, r.uid DESC SKIP $most LIMIT $limit
  WITH r WHERE r.status <> 'running'
  DELETE r
  RETURN count(*) AS removed
}
RETURN sum(removed) AS removed;

// name: count_older_runs
// How many these are.
// parameters: most
MATCH (j:Job)
WITH COUNT { (r:JobRun {job: j.name}) } - $most AS more
RETURN sum(CASE WHEN more > 0 THEN more ELSE 0 END) AS old;

// name: replace_idle_run
// Keep the record of a run that did nothing instead of the one before it that did nothing.
// parameters: job, uid
MERGE (j:Job {name: $job})
WITH j
OPTIONAL MATCH (r:JobRun {uid: j.idle_run})
DELETE r
SET j.idle_run = $uid;

// name: count_runs_before
// How many records of runs that ended are from before a time.
// parameters: before
MATCH (r:JobRun)
WHERE r.started_at < $before AND r.status <> 'running'
RETURN count(*) AS old;
