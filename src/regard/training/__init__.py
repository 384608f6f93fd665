"""The training loop, optimizers, schedules, metrics and recovery."""
