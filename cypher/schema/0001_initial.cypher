// Constraints and indexes of the first version.
CREATE CONSTRAINT memory_key IF NOT EXISTS FOR (m:Memory) REQUIRE m.key IS UNIQUE;
CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (e:Entity) REQUIRE e.key IS UNIQUE;
CREATE CONSTRAINT claim_key IF NOT EXISTS FOR (k:ClaimKey) REQUIRE k.key IS UNIQUE;
CREATE CONSTRAINT revision_key IF NOT EXISTS FOR (r:Revision) REQUIRE r.key IS UNIQUE;
CREATE CONSTRAINT conversation_key IF NOT EXISTS FOR (c:Conversation) REQUIRE c.key IS UNIQUE;
CREATE CONSTRAINT trace_uid IF NOT EXISTS FOR (t:Trace) REQUIRE t.uid IS UNIQUE;
CREATE CONSTRAINT api_key_uid IF NOT EXISTS FOR (k:ApiKey) REQUIRE k.uid IS UNIQUE;
CREATE CONSTRAINT api_key_hash IF NOT EXISTS FOR (k:ApiKey) REQUIRE k.hash IS UNIQUE;
CREATE CONSTRAINT idempotency_key IF NOT EXISTS FOR (i:IdempotencyKey) REQUIRE i.key IS UNIQUE;
CREATE CONSTRAINT job_run_uid IF NOT EXISTS FOR (r:JobRun) REQUIRE r.uid IS UNIQUE;
CREATE INDEX memory_listing IF NOT EXISTS FOR (m:Memory) ON (m.space, m.status, m.created_at);
CREATE INDEX memory_uid IF NOT EXISTS FOR (m:Memory) ON (m.uid);
CREATE INDEX memory_expiry IF NOT EXISTS FOR (m:Memory) ON (m.status, m.expires_at);
CREATE INDEX pending_space IF NOT EXISTS FOR (m:EmbedPending) ON (m.space, m.created_at);
CREATE INDEX trace_created IF NOT EXISTS FOR (t:Trace) ON (t.created_at);
CREATE INDEX job_run_job IF NOT EXISTS FOR (r:JobRun) ON (r.job, r.started_at);
CREATE INDEX idempotency_expiry IF NOT EXISTS FOR (i:IdempotencyKey) ON (i.expires_at);
CYPHER 25 CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (c:Chunk) ON c.embedding
  WITH [c.space, c.status, c.expires_at, c.type, c.captured_by, c.conversation_id]
  OPTIONS {indexConfig: {
    `vector.dimensions`: $dimensions,
    `vector.similarity_function`: 'cosine',
    `vector.quantization.type`: 'NONE',
    `vector.default_search_expansion_factor`: 3.0
  }};
CREATE FULLTEXT INDEX memory_text IF NOT EXISTS
  FOR (m:Memory) ON EACH [m.search_context, m.search_text, m.search_actor, m.space_token]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'unicode_whitespace'}};
