"""Shared by the tasks on running text: corpora, tokenizers, counts."""
