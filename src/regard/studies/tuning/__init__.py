"""Runs that fine-tune: a head over a body, taught from examples; one shape of examples and answers a task."""
