"""Descriptions of a run: card, curves, plots of attention."""
