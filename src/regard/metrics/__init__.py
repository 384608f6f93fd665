"""Scores of predictions against references; no torch."""
