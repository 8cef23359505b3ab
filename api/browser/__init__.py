"""What Neo4j Browser is given: the guide, with the saved queries in it, and the style."""
