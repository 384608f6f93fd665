"""A race: several models, the same data, tokenizer, seed and budget, and a report on what came of it."""
