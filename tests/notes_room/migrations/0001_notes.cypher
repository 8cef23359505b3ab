// Notes by their key, and by when they were made.
CREATE CONSTRAINT note_key IF NOT EXISTS FOR (n:Note) REQUIRE n.key IS UNIQUE;
CREATE INDEX note_listing IF NOT EXISTS FOR (n:Note) ON (n.space, n.created_at);
