import numpy as np
import pytest

from regard.inspection.interventions import Edit
from regard.studio.views.outputs import EditedInput, output_of

SENTENCE = "Der kleine Hund schläft im Garten."


def test_an_output_without_edits_is_that_of_a_call(translator, pipeline_of):
    output, weighed = output_of(translator, EditedInput(model="m", text=SENTENCE), [])
    assert output.text == translator(SENTENCE, beam_size=1).text and weighed().kinds == (
        "cross",
        "encoder",
        "decoder",
    )
    output, _ = output_of(
        pipeline_of("masked-language-model"), EditedInput(model="m", text="Anna sees the [MASK]."), []
    )
    assert output.text == pipeline_of("masked-language-model").fill("Anna sees the [MASK].", top=1).filled


def test_the_attention_of_a_row_is_that_of_the_probes(pipeline_of):
    model = pipeline_of("answer")
    fields = {"question": "Where is Anna?", "context": "Anna is in the garden."}
    output, weighed = output_of(model, EditedInput(model="m", fields=fields), [])
    trace = weighed()
    expected = model.inspect(fields["question"], fields["context"])
    assert np.allclose(trace.attention("self", 0), expected.attention("self", 0), atol=1e-6)
    assert trace.tokens == expected.tokens and output.text == model(fields["question"], fields["context"]).text


def test_a_head_off_changes_what_a_tagger_gives(pipeline_of):
    given = EditedInput(model="m", fields={"text": "Anna sees Ben"})
    before, _ = output_of(pipeline_of("tag"), given, [])
    after, _ = output_of(pipeline_of("tag"), given, [Edit("self", 0)])
    assert len(before.tokens) == 3 and before.probabilities != pytest.approx(after.probabilities, abs=1e-9)
