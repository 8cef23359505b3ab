// What was said of memories that recalls gave, the notes of a memory by their times, and the last recalls of sessions.
CREATE CONSTRAINT feedback_key IF NOT EXISTS FOR (f:Feedback) REQUIRE f.key IS UNIQUE;
CREATE CONSTRAINT last_recall_key IF NOT EXISTS FOR (l:LastRecall) REQUIRE l.key IS UNIQUE;
CREATE INDEX feedback_notes IF NOT EXISTS FOR (f:Feedback) ON (f.space, f.memory, f.noted_at);
