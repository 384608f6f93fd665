"""Regression: a number for a text or a text pair."""
