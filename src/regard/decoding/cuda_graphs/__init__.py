"""CUDA graphs of decoding steps and of whole searches."""
