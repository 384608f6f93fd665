"""Looking inside: a Trace recorded from named probes while a model runs, and figures taken from them."""

from regard.inspection.focus import attention_focus
from regard.inspection.layers import read_layers
from regard.inspection.lens import record_lens
from regard.inspection.record import only_user, record_text, record_translation, recording

__all__ = [
    "attention_focus",
    "only_user",
    "read_layers",
    "record_lens",
    "record_text",
    "record_translation",
    "recording",
]
