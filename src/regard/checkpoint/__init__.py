"""Checkpoints: config.json, model.safetensors, tokenizer.json; written atomically; training state separate."""
