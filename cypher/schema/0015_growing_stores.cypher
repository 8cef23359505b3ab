// What one space or tenant asks for is found without a look at all others.
CREATE INDEX job_run_status IF NOT EXISTS FOR (r:JobRun) ON (r.status, r.job);
CREATE INDEX entity_change_listing IF NOT EXISTS FOR (c:EntityChange) ON (c.space, c.created_at);
CREATE INDEX api_key_tenant IF NOT EXISTS FOR (k:ApiKey) ON (k.tenant);
MATCH (s:Space) WHERE s.policy IS NOT NULL SET s:HasPolicy;
