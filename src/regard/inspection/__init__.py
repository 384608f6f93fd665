"""Inspection: traces recorded at probes, hidden states, the logit lens and attention focus."""
