"""Faster inference: prepacked and int8 weights, threads, out-of-memory retries."""
