"""Common parts of all families: settings, protocols, embeddings."""
