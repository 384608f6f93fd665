import pytest

from regard.errors import ConfigError
from regard.studio.views.generation import GenerationRequest, LensRequest, generation_events, show_lens


def test_events_are_the_tokens_of_a_call(pipeline_of):
    generator = pipeline_of("language-model")
    options = {"temperature": 0.9, "top_k": 8, "max_new_tokens": 6, "seed": 4}
    events = list(generation_events(generator, GenerationRequest(model="m", text="Anna", options=options)))
    expected = generator("Anna", **options)
    assert [each.id for each in events] == list(expected.ids) and events[-1].is_last
    for event in events:
        assert event.id in [each.id for each in event.candidates]
        stages = {each.stage: each for each in event.stages}
        assert stages["top_k"].kept <= 8 < stages["model"].kept
        assert sum(stages["top_k"].probabilities) <= 1.0001


def test_the_lens_is_that_of_the_pipeline(pipeline_of):
    generator = pipeline_of("language-model")
    view = show_lens(generator, LensRequest(model="m", text="Anna sees", top=2))
    trace = generator.logit_lens("Anna sees", count=2)
    assert view.layers[0].probabilities == trace.arrays["blocks.0.probabilities"].tolist()
    assert len(view.tokens) == len(view.layers[0].tokens)


def test_a_model_without_a_lens_is_refused(pipeline_of):
    with pytest.raises(ConfigError, match="has no logit lens"):
        show_lens(pipeline_of("vectors"), LensRequest(model="m", text="x"))
