"""Model families and heads; a model returns hidden states, `project` gives logits."""
