"""Building blocks of models, each mechanism once."""
