"""Neural-network building blocks: layers, attention, kernels, probes and inference optimizations."""
