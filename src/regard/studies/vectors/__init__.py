"""Word vectors: how they are learned, how good they are, and what they look like."""
