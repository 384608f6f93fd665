"""Models that go to other libraries or come from there: name tables as data."""

from regard.interop.encoder_forms import ENCODER_FORMS, HEADED_FORMS, EncoderForm
from regard.interop.forms import FORMS, Form, config_for, form_for
from regard.interop.language_forms import LANGUAGE_FORMS, LanguageForm, language_form_for
from regard.interop.read import read, read_task
from regard.interop.tensors import feature_order, to_theirs
from regard.interop.write import write

__all__ = [
    "ENCODER_FORMS",
    "FORMS",
    "HEADED_FORMS",
    "LANGUAGE_FORMS",
    "EncoderForm",
    "Form",
    "LanguageForm",
    "config_for",
    "feature_order",
    "form_for",
    "language_form_for",
    "read",
    "read_task",
    "to_theirs",
    "write",
]
