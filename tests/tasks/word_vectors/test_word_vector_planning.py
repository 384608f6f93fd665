"""Planned defaults of word vectors."""

from types import SimpleNamespace

from regard.tasks.planning.inputs import PlanInput, Survey
from regard.tasks.word_vectors.planning import EPOCHS, MOST_EPOCHS, vector_defaults


def epochs(words):
    plan = PlanInput(SimpleNamespace(text=SimpleNamespace()), frozenset(), Survey(100, 6 * words))
    return [each.value for each in vector_defaults(plan)]


def test_few_words_are_read_more_often():
    planned = [epochs(words)[0] for words in (1_000, 100_000, 1_000_000, 5_000_000, 10**9)]
    assert planned == sorted(planned, reverse=True) and planned[0] == MOST_EPOCHS and planned[-2:] == [EPOCHS, EPOCHS]
    assert epochs(240_000) == [23]
    assert not list(vector_defaults(PlanInput(SimpleNamespace(), frozenset(), None)))
