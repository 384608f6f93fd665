"""Logits processing: filters, constraints, sampling, coverage."""
