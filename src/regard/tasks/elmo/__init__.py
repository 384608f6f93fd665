"""Bidirectional language modeling (ELMo)."""
