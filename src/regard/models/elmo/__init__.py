"""ELMo: a character-aware bidirectional LSTM language model."""
