"""Inspection: traces recorded from named probes, and what is computed from them."""
