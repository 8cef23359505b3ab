"""Career corpora: what owners keep of their careers (000)."""
