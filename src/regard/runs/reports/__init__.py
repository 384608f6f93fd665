"""What a run is described by: card, curves, pictures."""
