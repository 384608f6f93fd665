"""Triton kernels of decoding."""
