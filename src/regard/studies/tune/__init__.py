"""Tuning: successive halving over the most doubtful values of a plan."""
