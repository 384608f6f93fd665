"""Data parallelism: process groups and sums over them."""
