"""Commands on files, checkpoints, tokenizers and settings."""
