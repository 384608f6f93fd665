"""Word vectors (word2vec)."""
