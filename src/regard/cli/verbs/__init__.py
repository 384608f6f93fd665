"""Commands on runs and studies."""
