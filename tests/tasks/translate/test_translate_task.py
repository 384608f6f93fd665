"""The task `translate`: sets from memory, outputs of other programs, and the lines under its scores."""

import pytest

from regard.errors import DataError
from regard.metrics.translation import translation_scores
from regard.tasks.translate.task import TASK

PAIRS = [("der Hund schläft im Garten", "the dog sleeps in the garden"), ("die Katze spielt", "the cat is playing")]


def test_pairs_from_memory_are_a_set_with_one_reference_each():
    chosen = TASK.memory_set("data", PAIRS)
    assert chosen.name == "data" and [pair.source for pair in chosen.rows] == [source for source, _ in PAIRS]
    assert chosen.references == [[target] for _, target in PAIRS]


def test_outputs_of_another_program_have_the_corpus_scores():
    chosen = TASK.memory_set("data", PAIRS)
    lines = ["the dog sleeps in a garden", "a cat is playing"]
    evaluation = TASK.evaluate_outputs(chosen, lines, "theirs.txt")
    expected = {score.name: score.value for score in translation_scores(lines, chosen.references)}
    assert {score["name"]: score["value"] for score in evaluation.metrics["scores"]} == expected
    assert evaluation.outputs == tuple(lines) and evaluation["bleu"] == expected["BLEU"]
    assert evaluation.metrics["test_set"] == TASK.set_hashes(chosen)
    with pytest.raises(DataError) as error:
        TASK.evaluate_outputs(chosen, lines[:1], "theirs.txt")
    assert str(error.value) == "theirs.txt has 1 lines but data has 2 sentences; give one hypothesis a line."


def test_hashes_tell_sources_and_each_list_of_references_apart():
    chosen = TASK.memory_set("data", PAIRS)
    hashes = TASK.set_hashes(chosen)
    other = TASK.set_hashes(TASK.memory_set("x", [(source, target.upper()) for source, target in PAIRS]))
    assert hashes["sources"] == other["sources"] and hashes["references"] != other["references"]
    assert len(hashes["references"]) == 1


def test_equal_outputs_differ_in_no_metric():
    chosen = TASK.memory_set("data", PAIRS)
    lines = [target for _, target in PAIRS]
    differences = TASK.differences(None, chosen, [lines, lines])
    assert [each.name for each in differences] == ["BLEU", "chrF", "TER"]
    assert all(each.value == 0 and each.p == 1 for each in differences)


def test_signatures_papers_and_decoding_stand_under_the_scores():
    first = {
        "scores": [{"name": "BLEU", "value": 1.0, "signature": "sig"}],
        "paper_scores": [{"name": "BLEU lowercased", "value": 2.0, "signature": "lc"}],
        "decode": {"beam_size": 5},
    }
    second = first | {"paper_scores": [{"name": "BLEU lowercased", "value": 3.0, "signature": "lc"}]}
    assert TASK.score_lines({"a": first, "b": second}) == [
        "BLEU: sig",
        "for papers only, BLEU lowercased: a 2.00, b 3.00 (lc)",
        "decoding: beam size 5",
    ]


def test_four_kinds_of_checks_each_have_a_quick_form():
    assert [check.name for check in TASK.checks()] == ["text", "splits", "alignment", "sizes"]
    assert [check.name for check in TASK.checks() if check.run is not check.quick] == ["alignment"]


def test_the_options_of_an_evaluation_are_those_of_decoding():
    assert set(TASK.evaluation.model_fields) == {"beam_size", "iterations", "max_source_length"}
