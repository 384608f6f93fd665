"""Readers: files of every accepted format to rows."""
