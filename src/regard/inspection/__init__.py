"""Looking inside: a Trace recorded from named probes while a model runs."""

from regard.inspection.record import record_translation

__all__ = ["record_translation"]
