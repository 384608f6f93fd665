"""Attention: scores, masks, key/value caches, varlen layout."""
