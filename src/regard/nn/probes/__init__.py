"""Named probes: intermediate values made visible, and traces of them."""
