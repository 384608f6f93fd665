"""The task `translate`: outputs of other programs, and the lines under its scores."""

import numpy as np
import pytest

from regard.data.sources.pair import Pair
from regard.errors import DataError
from regard.metrics.translation import translation_scores
from regard.tasks.translate.evaluate import pair_set
from regard.tasks.translate.task import TASK

PAIRS = [("der Hund schläft im Garten", "the dog sleeps in the garden"), ("die Katze spielt", "the cat is playing")]


@pytest.fixture
def chosen():
    return pair_set("data", [Pair(*each) for each in PAIRS])


def test_outputs_of_another_program_have_the_corpus_scores(chosen):
    lines = ["the dog sleeps in a garden", "a cat is playing"]
    statistics = TASK.statistics(None, chosen, lines)
    expected = {score.key: score.value for score in translation_scores(lines, chosen.references)}
    assert {key: each(np.ones(2)) for key, each in statistics.items()} == expected
    with pytest.raises(DataError) as error:
        TASK.statistics(None, chosen, lines[:1])
    assert str(error.value) == "1 lines, but data has 2 sentences; give one hypothesis a line."


def test_hashes_tell_sources_and_each_list_of_references_apart(chosen):
    hashes = TASK.set_hashes(chosen)
    other = TASK.set_hashes(pair_set("x", [Pair(source, target.upper()) for source, target in PAIRS]))
    assert hashes["sources"] == other["sources"] and hashes["references"] != other["references"]
    assert len(hashes["references"]) == 1


def test_signatures_papers_and_decoding_stand_under_the_scores():
    first = {
        "scores": [{"name": "BLEU", "value": 1.0, "signature": "sig"}],
        "paper_scores": [{"name": "BLEU lowercased", "value": 2.0, "signature": "lc"}],
        "decode": {"beam_size": 5},
    }
    second = first | {"paper_scores": [{"name": "BLEU lowercased", "value": 3.0, "signature": "lc"}]}
    assert TASK.score_lines({"a": first, "b": second}) == [
        "BLEU: sig",
        "for papers that compute it so, BLEU lowercased: a 2.00, b 3.00 (lc)",
        "decoding of all sentences: beam size 5",
    ]


def test_four_kinds_of_checks_each_have_a_quick_form():
    assert [check.name for check in TASK.checks()] == ["text", "splits", "alignment", "sizes"]
    assert [check.name for check in TASK.checks() if check.run is not check.quick] == ["alignment"]


def test_the_options_of_an_evaluation_are_those_of_decoding():
    assert set(TASK.evaluation.model_fields) == {"beam_size", "iterations", "max_source_length", "papers"}
