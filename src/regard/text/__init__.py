"""Tokenizers: characters to token ids and back, on Hugging Face `tokenizers`; no torch."""
