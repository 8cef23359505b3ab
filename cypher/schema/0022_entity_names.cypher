// Entities are found by the words of their names, and by whole names.
CREATE FULLTEXT INDEX entity_names IF NOT EXISTS
  FOR (e:Entity) ON EACH [e.search_names, e.space_token]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'unicode_whitespace'}};
