import numpy as np
import pytest

from regard.errors import ConfigError
from regard.studio.views.attention import AttentionRequest, receptive_fields, show_attention

SENTENCE = "Der kleine Hund schläft im Garten."


def test_weights_are_those_of_the_probes_and_the_output_is_the_models_own(translator):
    view = show_attention(translator, AttentionRequest(model="m", text=SENTENCE))
    trace = translator.inspect(SENTENCE)
    assert view.output == translator(SENTENCE).text and view.score == pytest.approx(translator(SENTENCE).score)
    assert [each.name for each in view.kinds] == list(trace.kinds) == ["cross", "encoder", "decoder"]
    for kind in view.kinds:
        shown = show_attention(translator, AttentionRequest(model="m", text=SENTENCE, kind=kind.name))
        expected = np.stack([trace.attention(kind.name, layer) for layer in range(kind.layers)])
        assert np.array_equal(shown.weights.array, expected)
        assert shown.weights.array.shape == (kind.layers, kind.heads, len(shown.queries), len(shown.keys))


def test_a_target_of_the_user_is_read_instead(translator):
    view = show_attention(translator, AttentionRequest(model="m", text=SENTENCE, target="The small dog sleeps."))
    assert "".join(view.queries).startswith("Thesmalldogsleeps") and view.score is None


def test_encoders_and_classifiers_show_self_attention(pipeline_of):
    for name in ("masked-language-model", "language-model", "classify"):
        view = show_attention(pipeline_of(name), AttentionRequest(model="m", text="the dog sleeps"))
        assert view.kind == "self" and view.queries == view.keys
        assert np.allclose(view.weights.array.sum(-1), 1, atol=1e-5)


def test_a_model_without_attention_is_refused(pipeline_of):
    with pytest.raises(ConfigError, match="has no attention"):
        show_attention(pipeline_of("elmo"), AttentionRequest(model="m", text="the dog sleeps"))


def test_a_text_whose_weights_would_fill_the_memory_is_refused_before(translator):
    with pytest.raises(ConfigError, match="have more attention weights than one picture holds"):
        show_attention(translator, AttentionRequest(model="m", text="Ja. " * 4000))


def test_only_convolutions_have_receptive_fields(translator):
    assert receptive_fields(translator) == []
