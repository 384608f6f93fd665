"""Triton and numba kernels, each guarded by a check of availability."""
