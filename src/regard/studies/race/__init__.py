"""Races: several models on one budget."""
