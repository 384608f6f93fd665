"""Trials before a run: memory, speed, learning rate, largest batch."""
