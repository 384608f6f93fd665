"""Hugging Face folders, read and written; name tables as data."""
