// What the keeper of the store needs: jobs by name, commitments by age.
CREATE CONSTRAINT job_name IF NOT EXISTS FOR (j:Job) REQUIRE j.name IS UNIQUE;
CREATE INDEX todo_updated IF NOT EXISTS FOR (m:Todo) ON (m.status, m.updated_at);
MATCH (j:Job {name: 'forget_traces'}) DELETE j;
