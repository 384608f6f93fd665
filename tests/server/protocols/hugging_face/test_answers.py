"""Parameters of Hugging Face's clients as options, and what nothing uses refused in the words they look for."""

import re

import pytest
from huggingface_hub.inference._client import MODEL_KWARGS_NOT_USED_REGEX

from regard.server.errors import RequestError
from regard.server.faults import Fault
from regard.server.protocols.hugging_face.answers import TAGS
from regard.server.protocols.hugging_face.generation import generation_options
from regard.server.protocols.hugging_face.routes import hugging_face_shape


def test_parameters_are_options_by_their_own_names():
    assert TAGS["fill-mask"].given({"top_k": 3, "targets": ["a"]}) == {"top": 3, "candidates": ["a"]}
    assert TAGS["translation"].given({"num_beams": 2, "truncation": "x", "src_lang": "de"}) == {"beam_size": 2}
    given = generation_options({"max_new_tokens": 5, "details": True, "temperature": 0.5})
    assert given == {"max_new_tokens": 5, "temperature": 0.5, "method": "sample", "num_samples": 1}
    assert generation_options({"do_sample": False, "top_k": 5}) == {"method": "sample", "temperature": 0}


def test_what_nothing_uses_is_refused_in_the_words_that_the_client_looks_for():
    with pytest.raises(RequestError) as refused:
        generation_options({"typical_p": 0.5, "watermark": True})
    assert re.search(MODEL_KWARGS_NOT_USED_REGEX, str(refused.value))[1] == "'typical_p', 'watermark'"
    with pytest.raises(RequestError, match="true or false"):
        generation_options({"details": "yes"})


def test_errors_are_a_sentence_under_error():
    assert hugging_face_shape(Fault(422, "No.")) == (400, {"error": "No."})
