"""Checkpoints: config.json, model.safetensors, tokenizer.json; written atomically, training state in a folder of its own."""
