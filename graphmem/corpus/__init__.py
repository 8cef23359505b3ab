"""Career corpus: a repository of documents with approvals, proved writes and a status (000)."""
