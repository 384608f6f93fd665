"""Looking inside: a Trace recorded from named probes while a model runs."""

from regard.inspection.record import only_user, record_translation

__all__ = ["only_user", "record_translation"]
