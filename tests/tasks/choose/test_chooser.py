"""The multiple-choice pipeline."""

import numpy as np
import pytest

from head_bundles import TEXTS, head_bundle
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.errors import DataError
from regard.tasks.choose.pipeline import MultipleChoice, encode_choice_rows


def test_choices_are_scored_together_and_alone_alike():
    chooser = MultipleChoice(head_bundle("choose", "gpt"))
    given = [(TEXTS[0], TEXTS[1:3]), (TEXTS[4], TEXTS[5:9]), (TEXTS[9], TEXTS[10:12])]
    results = chooser(given)
    for (context, choices), together in zip(given, results, strict=True):
        alone = chooser(context, choices)
        assert together.probabilities == pytest.approx(alone.probabilities, abs=1e-6)
        assert sum(together.probabilities) == pytest.approx(1) and len(together.probabilities) == len(choices)
        assert together.choice == choices[int(np.argmax(together.probabilities))] == alone.choice
        assert together.probability == max(together.probabilities) and together.row.context == context


def test_the_order_of_choices_makes_no_difference():
    chooser = MultipleChoice(head_bundle("choose", "gpt"))
    one, other = (chooser(TEXTS[0], choices) for choices in (TEXTS[1:4], TEXTS[1:4][::-1]))
    assert one.probabilities == pytest.approx(other.probabilities[::-1], abs=1e-6) and one.choice == other.choice


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        (["b"], "line 1: it has 1 choices; give two or more."),
        (["b", ""], "line 1 is empty; give some text."),
    ],
)
def test_choices_that_cannot_be_scored_are_refused(choices, sentence):
    with pytest.raises(DataError) as error:
        MultipleChoice(head_bundle("choose", "gpt"))("a", choices)
    assert str(error.value) == sentence


@pytest.mark.parametrize(("pooling", "pools_all"), [("token", False), ("mean", True)])
def test_choices_are_encoded_for_the_pooling_of_the_head(pooling, pools_all):
    rows = [MultipleChoiceRow(TEXTS[0], tuple(TEXTS[1:4]), 2), MultipleChoiceRow("film " * 60, ("a", "b"), 0)]
    encoded = encode_choice_rows(head_bundle("choose", pooling=pooling), rows)
    assert encoded.uses_pooling == pools_all and encoded.labels.tolist() == [2, 0]
    assert encoded.is_truncated.tolist() == [False, True]
