"""The only room that knows Neo4j."""
