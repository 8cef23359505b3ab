// What the keeper of the store needs: jobs by name, commitments by age, summaries of entities, topics.
CREATE CONSTRAINT job_name IF NOT EXISTS FOR (j:Job) REQUIRE j.name IS UNIQUE;
CREATE CONSTRAINT entity_summary_key IF NOT EXISTS FOR (s:EntitySummary) REQUIRE s.key IS UNIQUE;
CREATE CONSTRAINT topic_key IF NOT EXISTS FOR (t:Topic) REQUIRE t.key IS UNIQUE;
CREATE INDEX topic_listing IF NOT EXISTS FOR (t:Topic) ON (t.space, t.rank);
CREATE INDEX todo_updated IF NOT EXISTS FOR (m:Todo) ON (m.status, m.updated_at);
MATCH (j:Job {name: 'forget_traces'}) DELETE j;
