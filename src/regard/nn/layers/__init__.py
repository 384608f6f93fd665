"""Layers: linear, embedding, positions, norms, recurrence, convolution."""
