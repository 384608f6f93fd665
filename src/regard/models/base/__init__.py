"""What all families share: settings, protocols, embeddings."""
