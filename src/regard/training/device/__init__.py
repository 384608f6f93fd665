"""The device: precision, compilation, CUDA graphs of gradients."""
