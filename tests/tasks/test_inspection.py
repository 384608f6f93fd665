"""The view of a forward pass that options ask for, or a sentence on what the model has none of."""

import pytest

from generators import language_bundle, tokenizer_of
from regard.errors import ConfigError
from regard.inspection.settings import InspectOptions
from regard.inspection.views import LensView, WeightsView
from regard.tasks.inspection import view_of
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.load import load


@pytest.fixture(scope="module")
def generator():
    return Generator(language_bundle(tokenizer_of("byte-level")))


def test_options_choose_the_view(generator, tmp_path):
    view = view_of(generator, "r", ["the dog"], InspectOptions(head=0))
    assert isinstance(view, WeightsView) and view.to_dict()["head"] == 0
    view.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").is_file()
    lens = view_of(generator, "r", ["the dog"], InspectOptions(logit_lens=True, top=2))
    assert isinstance(lens, LensView) and len(lens.to_dict()["blocks"][0][0]) == 2
    with pytest.raises(ConfigError, match="only attention weights are plotted; leave it out."):
        lens.plot(tmp_path / "b.png")


@pytest.mark.parametrize(
    ("texts", "options", "sentence"),
    [
        (["a", "b", "c"], {}, "3 texts were given; give one, or two for a pair."),
        (["a"], {"iterations": 2}, "r: only a mask-predict model decodes in iterations; leave out --iterations."),
        (["a", "b"], {}, "A language model takes one text; leave out the second."),
        (["a", "b"], {"logit_lens": True}, "A language model takes one text; leave out the second."),
    ],
)
def test_what_a_model_does_not_have_is_refused(generator, texts, options, sentence):
    with pytest.raises(ConfigError) as error:
        view_of(generator, "r", texts, InspectOptions(**options))
    assert str(error.value) == sentence


def test_a_model_without_a_residual_stream_has_no_lens(tiny_runs):
    with pytest.raises(ConfigError, match="r: a translator has no logit lens; give a language model or BERT."):
        view_of(load(tiny_runs / "translate"), "r", ["der Hund"], InspectOptions(logit_lens=True))
