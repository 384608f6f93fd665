"""Named probes of intermediate values, and traces recorded from them."""
