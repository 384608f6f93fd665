import contextlib
import io

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.studio.views import interventions
from regard.studio.views.interventions import (
    EditMessage,
    InterventionRequest,
    show_intervention,
)
from regard.studio.views.outputs import output_of
from regard.tasks.load import load

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


def test_the_output_without_edits_is_found_once_for_an_input(translator, monkeypatch):
    asked = InterventionRequest(model="m", text=SENTENCE)
    before, seen = show_intervention(translator, asked).before, []

    def counted(pipeline, given, edits):
        seen.append(len(edits))
        return output_of(pipeline, given, edits)

    monkeypatch.setattr(interventions, "output_of", counted)
    for text in (SENTENCE, "Der Hund schläft.", "Der Hund schläft."):
        view = show_intervention(translator, asked.model_copy(update={"text": text, "edits": EDITS}))
        assert (view.before == before) == (text == SENTENCE)
    assert seen == [3, 3, 0, 3]


def test_the_python_code_does_the_same(translator):
    asked = InterventionRequest(model=translator.origin, text=SENTENCE, edits=EDITS)
    view = show_intervention(translator, asked)
    assert printed(view.code) == view.after.text


def printed(code):
    """What code of the page prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    return out.getvalue().removesuffix("\n")


def test_language_models_can_be_edited(pipeline_of):
    edits = (EditMessage(kind="self", layer=0, head=0, query=1, key=0, weight=1.0),)
    asked = InterventionRequest(model="m", text="Anna", edits=edits, max_new_tokens=4)
    view = show_intervention(pipeline_of("language-model"), asked)
    assert view.weights.array[0, 0, 1, 0] == pytest.approx(1, abs=1e-6) and view.kinds == ["self"]


ROWS = {
    "classify": {"text": "a good long book"},
    "regress": {"text": "a good long book", "second": "a bad book"},
    "tag": {"text": "Anna sees Ben in Paris"},
    "answer": {"question": "Where is Anna?", "context": "Anna is in the garden. Ben is here."},
    "choose": {"context": "a good long book"},
}


def asked_of(name, model):
    """A request with a head off and a weight overwritten, for the tiny model of a task."""
    edits = (
        EditMessage(kind="self", layer=0, head=1),
        EditMessage(kind="self", layer=0, head=0, query=0, key=2, weight=0.9),
    )
    text = {"language-model": "Anna has", "masked-language-model": "Anna sees the [MASK]."}.get(name, "")
    fields, choices = ROWS.get(name, {}), ("good", "bad") if name == "choose" else ()
    return InterventionRequest(model=model, text=text, fields=fields, choices=choices, edits=edits, max_new_tokens=5)


@pytest.mark.parametrize("name", ["language-model", "masked-language-model", *ROWS])
def test_any_model_with_attention_can_be_edited_and_python_does_the_same(pipeline_of, name):
    pipeline = pipeline_of(name)
    asked = asked_of(name, pipeline.origin)
    view = show_intervention(pipeline, asked)
    weights = view.weights.array
    assert weights.shape[2:] == (len(view.queries), len(view.keys))
    assert weights[0, 0, 0, 2] == pytest.approx(0.9, abs=1e-6) and np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert view.before == show_intervention(pipeline, asked.model_copy(update={"edits": ()})).after
    assert view.after.probabilities != view.before.probabilities or name == "regress"
    assert printed(view.code) == view.after.text


def test_mask_predict_is_edited_in_every_pass(masked_run):
    pipeline = load(masked_run.path)
    asked = InterventionRequest(model=pipeline.origin, text=SENTENCE, edits=EDITS, kind="cross")
    view = show_intervention(pipeline, asked)
    assert view.weights.array[0, 0, 0, 2] == pytest.approx(0.75, abs=1e-6)
    assert view.after != view.before and len(view.after.tokens) == len(view.after.probabilities)
    assert printed(view.code) == view.after.text


def test_what_has_no_attention_is_refused(pipeline_of):
    with pytest.raises(ConfigError, match="table of word vectors"):
        show_intervention(pipeline_of("vectors"), InterventionRequest(model="m", text="Anna"))


def test_a_weight_needs_a_cell_and_a_value(translator):
    edits = (EditMessage(kind="cross", layer=0, weight=0.5),)
    with pytest.raises(
        ConfigError, match="weight: an overwritten weight has a query, a key, and a value from 0 to 1"
    ):
        show_intervention(translator, InterventionRequest(model="m", text=SENTENCE, edits=edits))
