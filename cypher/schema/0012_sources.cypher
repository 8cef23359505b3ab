// Further sources of a memory are nodes, found by the conversation or the hand that they name.
CREATE CONSTRAINT source_key IF NOT EXISTS FOR (s:Source) REQUIRE s.key IS UNIQUE;
CREATE INDEX source_conversation IF NOT EXISTS FOR (s:Source) ON (s.space, s.conversation_id);
CREATE INDEX source_captured_by IF NOT EXISTS FOR (s:Source) ON (s.space, s.captured_by);
