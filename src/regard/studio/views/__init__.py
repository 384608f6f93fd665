"""Views: a request and a model to the values that a picture shows."""
