"""Rows to tensors: token ids, templates, padded or varlen inputs, batches."""
