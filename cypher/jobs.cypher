// name: start_run
// Record that a run of a job began.
// parameters: dry_run, job, started_at, uid
CREATE (r:JobRun {uid: $uid, job: $job, dry_run: $dry_run, started_at: $started_at, status: 'running'});

// name: finish_run
// Record how a run ended.
// parameters: counts, error, finished_at, status, uid
MATCH (r:JobRun {uid: $uid})
SET r.status = $status, r.counts = $counts, r.error = $error, r.finished_at = $finished_at;

// name: abandon_runs
// Mark runs of a job that never ended; called by the holder of its lease, so no other run is on.
// parameters: job, now
MATCH (r:JobRun {job: $job, status: 'running'})
SET r.status = 'abandoned', r.finished_at = $now
RETURN count(*) AS abandoned;

// name: runs
// The newest runs of a job.
// parameters: job, limit
MATCH (r:JobRun {job: $job})
RETURN r
ORDER BY r.started_at DESC, r.uid
LIMIT $limit;
