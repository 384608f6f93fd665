"""Objectives: hidden states to a loss of named parts (sum, count, weight)."""
