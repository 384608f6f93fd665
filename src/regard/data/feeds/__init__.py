"""Feeds: batches of every training update, as a pure function of seed and position."""
