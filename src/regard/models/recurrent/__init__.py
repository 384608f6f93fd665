"""Recurrent seq2seq models and language models."""
