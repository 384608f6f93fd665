"""Scheduling of a model: rows of all clients wait in one queue, and are batched as they come."""
