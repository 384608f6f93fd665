import contextlib
import io

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.studio.views.interventions import (
    EditMessage,
    InterventionRequest,
    RankingRequest,
    rank_heads,
    show_intervention,
)

SENTENCE = "Der kleine Hund schläft im Garten."
EDITS = (
    EditMessage(kind="cross", layer=0, head=1),
    EditMessage(kind="cross", layer=0, head=0, query=0, key=2, weight=0.75),
    EditMessage(kind="encoder", layer=0),
)


def test_without_edits_nothing_changes_and_the_output_is_greedy(translator):
    view = show_intervention(translator, InterventionRequest(model="m", text=SENTENCE))
    assert view.before == view.after and view.before.text == translator(SENTENCE, beam_size=1).text


def test_the_overwritten_weight_is_shown_and_the_rest_adds_up(translator):
    asked = InterventionRequest(model="m", text=SENTENCE, edits=EDITS, kind="cross")
    view = show_intervention(translator, asked)
    weights = view.weights.array
    assert weights[0, 0, 0, 2] == pytest.approx(0.75, abs=1e-6)
    assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert view.after != view.before


def test_the_python_code_does_the_same(translator):
    asked = InterventionRequest(model=translator.origin, text=SENTENCE, edits=EDITS)
    view = show_intervention(translator, asked)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(view.code, {})
    assert out.getvalue().rstrip("\n") == view.after.text


def test_language_models_can_be_edited(pipeline_of):
    edits = (EditMessage(kind="self", layer=0, head=0, query=1, key=0, weight=1.0),)
    asked = InterventionRequest(model="m", text="Anna", edits=edits, max_new_tokens=4)
    view = show_intervention(pipeline_of("language-model"), asked)
    assert view.weights.array[0, 0, 1, 0] == pytest.approx(1, abs=1e-6) and view.kinds == ["self"]


def test_a_weight_needs_a_cell_and_a_value(translator):
    edits = (EditMessage(kind="cross", layer=0, weight=0.5),)
    with pytest.raises(
        ConfigError, match="weight: an overwritten weight has a query, a key, and a value from 0 to 1"
    ):
        show_intervention(translator, InterventionRequest(model="m", text=SENTENCE, edits=edits))


def test_heads_are_ranked_by_the_loss_without_them(translator):
    view = rank_heads(translator, RankingRequest(model="m", sentences=4))
    effects = [each.effect for each in view.heads]
    heads = translator.model.settings.heads
    assert len(effects) == 3 * heads and effects == sorted(effects, reverse=True) and any(effects)
    assert view.sentences == 4 and view.loss > 0
    with pytest.raises(ConfigError, match="choose 1 to 64"):
        rank_heads(translator, RankingRequest(model="m", sentences=0))
