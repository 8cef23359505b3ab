// What is kept for a while only is found by its age.
CREATE INDEX trace_kind IF NOT EXISTS FOR (t:Trace) ON (t.kind, t.created_at);
CREATE INDEX former_chunk_replaced IF NOT EXISTS FOR (c:FormerChunk) ON (c.replaced_at);
