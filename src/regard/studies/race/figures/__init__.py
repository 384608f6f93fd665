"""Figures of a race: what is measured of each entrant beyond its scores."""
