"""Steppers: one interface to every decoder, a token a step."""
