"""GPT: a decoder-only Transformer."""
