"""The API of Hugging Face inference: {"inputs", "parameters"} posted to the URL of a model."""
