"""Commands on files, checkpoints, settings and lists."""
