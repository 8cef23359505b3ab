"""The embedded Neo4j: a real server as a child process, with its Java, jars and data folder."""
