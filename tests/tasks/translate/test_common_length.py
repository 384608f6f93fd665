"""The maximum sentence length that several translators have in common."""

import pytest

from regard.runs.planning.recipes import find_recipe, resolve_run
from regard.tasks.translate.prepare import common_length

LEARNED = {"model.positions": "learned", "model.max_positions": 40}


def members(*changes):
    return [resolve_run(find_recipe("translate-miniature"), {"model.width": 16, **each}).settings for each in changes]


@pytest.mark.parametrize(
    ("changes", "length"),
    [
        ([{}, {"model.preset": "gru"}], 256),
        ([{}, LEARNED], 40),
        ([{"data.cleaning.max_tokens": 30}, LEARNED], 30),
        ([{"model.preset": "lstm", "data.cleaning.max_tokens": 90}], 90),
    ],
)
def test_the_shortest_limit_of_cleaning_and_positions_holds_for_all(changes, length):
    assert common_length(members(*changes)) == {"data.cleaning.max_tokens": length}


def test_no_memory_is_taken_for_large_models():
    (settings,) = members({"model.width": 65536, "model.feed_forward_width": 262144})
    assert common_length([settings]) == {"data.cleaning.max_tokens": 256}
