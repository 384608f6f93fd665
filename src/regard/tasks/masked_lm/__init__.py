"""Masked language modeling with next-sentence prediction (BERT)."""
