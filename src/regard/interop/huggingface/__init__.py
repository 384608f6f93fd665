"""Reader and writer of Hugging Face folders; weight names are tables."""
