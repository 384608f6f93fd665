"""Evaluation of runs: scores, passports, comparisons."""
