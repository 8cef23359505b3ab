"""Named Cypher queries, one file a noun; ``schema/`` holds the numbered migrations."""
