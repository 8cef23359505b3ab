// Turns that wait for their extraction, what was extracted, and threads; memories by what they state.
CREATE CONSTRAINT buffer_key IF NOT EXISTS FOR (b:Buffer) REQUIRE b.key IS UNIQUE;
CREATE CONSTRAINT extraction_key IF NOT EXISTS FOR (x:Extraction) REQUIRE x.key IS UNIQUE;
CREATE CONSTRAINT thread_key IF NOT EXISTS FOR (h:Thread) REQUIRE h.key IS UNIQUE;
CREATE INDEX buffer_listing IF NOT EXISTS FOR (b:Buffer) ON (b.space, b.key);
CREATE INDEX buffer_waiting IF NOT EXISTS FOR (b:Buffer) ON (b.last_at);
CREATE INDEX extraction_listing IF NOT EXISTS FOR (x:Extraction) ON (x.space, x.decided_at);
CREATE INDEX extraction_waiting IF NOT EXISTS FOR (x:WaitingExtraction) ON (x.decided_at);
CREATE INDEX extraction_age IF NOT EXISTS FOR (x:EmptyExtraction) ON (x.at);
CREATE INDEX extraction_words IF NOT EXISTS FOR (x:Extraction) ON (x.has_words, x.at);
CREATE INDEX thread_listing IF NOT EXISTS FOR (h:Thread) ON (h.space, h.last_at);
CREATE INDEX thread_session IF NOT EXISTS FOR (h:Thread) ON (h.space, h.session, h.last_at);
CREATE INDEX memory_statement IF NOT EXISTS FOR (m:Memory) ON (m.space, m.statement);
CREATE INDEX memory_asserts IF NOT EXISTS FOR (m:Memory) ON (m.space, m.asserts);
