"""The API of OpenAI: models, completions, chat completions, embeddings."""
