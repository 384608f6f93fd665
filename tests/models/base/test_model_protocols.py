"""Which protocols small models of several families implement."""

import pytest

from language import small_language_model
from regard.models.base.protocols import (
    Scheduled,
    SupportsCudaGraphs,
    SupportsLogitLens,
    SupportsTextCudaGraphs,
    is_conditional_masked,
)
from regard.models.base.settings import Vocabularies
from regard.models.families import build_model
from regard.models.gpt.model import GptSettings
from regard.models.recurrent.language_model import RecurrentLmSettings
from regard.models.recurrent.seq2seq import RecurrentSettings
from small import small_mask_predict, small_transformer

MODELS = {
    "transformer": small_transformer,
    "mask-predict": small_mask_predict,
    "recurrent": lambda: build_model(RecurrentSettings(width=8), Vocabularies(20, 20, True)),
    "gpt": lambda: small_language_model(GptSettings(width=8, heads=2, layers=1, feed_forward_width=8)),
    "recurrent-lm": lambda: small_language_model(RecurrentLmSettings(width=8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_families_implement_the_optional_protocols_that_they_should(name):
    model = MODELS[name]()
    assert is_conditional_masked(model) == (name == "mask-predict")
    assert isinstance(model, SupportsCudaGraphs) == (name == "transformer")
    assert isinstance(model, SupportsTextCudaGraphs) == (name == "gpt")
    assert isinstance(model, SupportsLogitLens) == (name == "gpt")
    assert isinstance(model, Scheduled) == (name == "recurrent")
