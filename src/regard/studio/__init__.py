"""The studio: what a browser shows of runs and models, computed here; nothing of a model is computed there."""
