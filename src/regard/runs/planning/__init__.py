"""Recipes, resolved settings and the plan of a run."""
