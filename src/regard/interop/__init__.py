"""Models and vectors to and from other libraries."""
