"""Tasks: a folder each, with settings, data, training, evaluation and pipeline."""
