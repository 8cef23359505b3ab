"""Saved queries and the style for people who look at the graph in Neo4j Browser."""
