"""Triton and numba kernels, each behind a check of availability."""
