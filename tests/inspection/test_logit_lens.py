import numpy as np
import pytest
import torch

from language import small_language_model
from regard.errors import ConfigError
from regard.inspection import logit_lens
from regard.inspection.logit_lens import record_lens
from regard.models.bert import BertSettings
from regard.models.gpt.model import GptSettings
from small import VOCABULARY, random_tokens, small_transformer

SIZES = {"width": 16, "heads": 4, "feed_forward_width": 32, "layers": 2, "max_positions": 16}
NAMES = [f"t{number}" for number in range(VOCABULARY)]


def names_of(ids):
    return [NAMES[number] for number in ids]


@pytest.mark.parametrize("settings", [GptSettings(**SIZES), BertSettings(**SIZES)], ids=["gpt", "bert"])
def test_the_last_block_predicts_what_the_model_predicts(settings, monkeypatch):
    monkeypatch.setattr(logit_lens, "AT_ONCE", 3 * VOCABULARY)  # several chunks of positions
    model, text = small_language_model(settings), random_tokens(1, 7)[0]
    segments = torch.zeros_like(text) if isinstance(settings, BertSettings) else None
    trace = record_lens(model, text, {"text": names_of(text.tolist())}, names_of, 3, segments)
    with torch.no_grad():
        best = model(text[None])[0].softmax(-1).topk(3)
    ids, probabilities = trace.arrays["blocks.1.ids"], trace.arrays["blocks.1.probabilities"]
    assert ids.shape == (7, 3) and (ids == best.indices.numpy()).all()
    assert np.abs(probabilities - best.values.numpy()).max() < 1e-5
    assert trace.tokens["blocks.1"] == names_of(best.indices[:, 0].tolist())
    assert trace.tokens["text"] == names_of(text.tolist())
    assert (trace.arrays["blocks.0.probabilities"] != probabilities).any()


def test_a_small_vocabulary_gives_all_of_it_in_order():
    model, text = small_language_model(GptSettings(**SIZES)), random_tokens(1, 3)[0]
    trace = record_lens(model, text, {}, names_of, count=1000)
    probabilities = trace.arrays["blocks.0.probabilities"]
    assert probabilities.shape == (3, VOCABULARY) and (np.diff(probabilities) <= 0).all()
    assert np.abs(probabilities.sum(1) - 1).max() < 1e-5


def test_a_model_without_a_residual_stream_is_refused():
    with pytest.raises(ConfigError) as error:
        record_lens(small_transformer(), random_tokens(1, 3)[0], {}, names_of)
    assert str(error.value) == "logit_lens: this model has no residual stream; use a model of the family gpt or bert."
