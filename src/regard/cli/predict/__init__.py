"""Commands that run inference with a trained model."""
