"""The encoder-decoder Transformer and its conditional masked variant."""
