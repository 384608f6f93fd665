import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

from language import small_language_model
from regard.errors import ConfigError
from regard.inspection.record import exclusive, record_text, record_translation, recording
from regard.models.gpt.model import GptSettings
from regard.nn.probes.probe import probes
from small import random_tokens, small_transformer


def small_gpt():
    return small_language_model(GptSettings(width=16, heads=4, feed_forward_width=32, layers=2, dropout=0.5))


def test_weights_of_a_text_are_causal_and_add_up_to_1():
    model, text = small_gpt(), random_tokens(1, 6)[0]
    trace = record_text(model, text, {"text": ["x"] * 6})
    assert trace.layers("self") == 2
    for layer in range(2):
        weights = trace.attention("self", layer)
        assert weights.shape == (4, 6, 6) and np.abs(weights.sum(-1) - 1).max() < 1e-5
        assert (np.triu(weights, 1) == 0).all()


def test_weights_of_a_translation_are_queries_of_the_target_and_keys_of_the_source():
    source, target = random_tokens(1, 5)[0], random_tokens(1, 3, seed=1)[0]
    trace = record_translation(small_transformer(), source, target, {}, ["*.weights"])
    assert trace.attention("cross").shape == (4, 3, 5)
    assert trace.attention("encoder").shape == (4, 5, 5)


def test_patterns_select_probes_and_an_unknown_name_is_refused_with_all_names():
    model = small_gpt()
    trace = record_text(model, random_tokens(1, 4)[0], {}, ["blocks.1.*.weights"])
    assert list(trace.arrays) == ["blocks.1.attention.weights"]
    with pytest.raises(ConfigError) as error:
        record_text(model, random_tokens(1, 4)[0], {}, ["x", "y"])
    assert str(error.value) == f"inspect: no probe is named x or y; this model has {', '.join(probes(model))}."


def test_recording_is_without_dropout_and_restores_training_and_probes():
    model, tokens = small_gpt().train(), random_tokens(1, 4)
    outcomes = []
    for _ in range(2):
        with torch.inference_mode(), recording(model, ["hidden.*"]) as arrays:
            assert not model.training
            model.hidden_states(tokens)
        outcomes.append(arrays["hidden.1"])
    assert (outcomes[0] == outcomes[1]).all()
    with pytest.raises(KeyError), recording(model, ["hidden.*"]):
        raise KeyError
    assert model.training and not any(probe.has_listener for probe in probes(model).values())
    with ThreadPoolExecutor(1) as others:
        assert others.submit(exclusive(model).acquire, blocking=False).result()


def test_a_model_has_one_lock_which_recording_holds():
    model = small_gpt()
    assert exclusive(model) is exclusive(model) and exclusive(model) is not exclusive(small_gpt())
    with recording(model, ["hidden.*"]):
        entered = threading.Event()
        other = threading.Thread(
            target=lambda: (exclusive(model).acquire(), entered.set(), exclusive(model).release())
        )
        other.start()
        assert not entered.wait(0.02)
    other.join()
    assert entered.is_set()


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 3)

    def hidden_states(self, tokens, segments=None):
        return self.table(tokens)


def test_models_without_probes_give_their_hidden_states():
    plain, text = Plain(), torch.tensor([1, 0, 2])
    trace = record_text(plain, text, {"text": ["b", "a", "c"]})
    assert list(trace.arrays) == ["hidden"] and trace.kinds == ()
    assert (trace.arrays["hidden"] == plain.table.weight[[1, 0, 2]].detach().numpy()).all()
    with pytest.raises(ConfigError, match=r"inspect: no probe is named hidden\.0; this model has none"):
        record_text(plain, text, {}, ["hidden.0"])
