"""Trained models in the formats of other libraries, by exporters that are built in or installed."""
