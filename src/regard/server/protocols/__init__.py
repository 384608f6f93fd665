"""Protocols: thin adapters from what clients send to operations of models, and back."""
