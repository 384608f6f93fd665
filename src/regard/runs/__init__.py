"""Runs: from a recipe to a trained model with scores and a card."""
