"""Causal language modeling."""
