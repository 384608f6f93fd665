"""Shared parts of pipelines: encoders, pooling, tables of results."""
