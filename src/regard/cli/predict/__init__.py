"""Commands that ask a trained model."""
