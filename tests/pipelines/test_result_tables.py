"""Results of a pipeline as additional columns of a table."""

from types import SimpleNamespace

from labeled import Telling
from regard.pipelines.result_tables import ResultTable, row_results
from regard.pipelines.text_tables import TextTable


def table_of(*texts: tuple[str, ...]) -> TextTable:
    rows = [{"id": number, "label": "old"} for number in range(len(texts))]
    return TextTable(["id", "label"], rows, list(texts), [""] * len(texts))


def lengths(texts, progress):
    return [SimpleNamespace(given=each, is_truncated=len(each) > 4) for each in texts]


def test_each_row_has_the_result_of_its_text_and_empty_ones_none():
    progress = Telling()
    results = row_results(lengths, table_of(("abc",), ("",), ("de",)), progress)
    assert [each and each.given for each in results] == ["abc", None, "de"] and progress.warned == []


def test_pairs_are_given_as_tuples_and_half_a_pair_is_left_out():
    results = row_results(lengths, table_of(("a", "b"), ("a", ""), ("c", "d")), Telling())
    assert [each and each.given for each in results] == [("a", "b"), None, ("c", "d")]


def test_truncated_texts_are_counted_in_one_warning():
    progress = Telling()
    row_results(lengths, table_of(("abcde",), ("abcdef",), ("a",)), progress)
    assert progress.warned == ["2 of the texts are longer than the model's maximum length and were truncated."]


def test_columns_are_added_and_those_of_the_same_name_kept():
    results = ResultTable(
        table_of(("a",), ("",), ("b",)),
        [0, None, 2],
        ["label", "score"],
        lambda value: [f"is {value}", str(value)],
        lambda value: {"label": f"is {value}", "score": value},
    )
    assert results.cells() == [
        ["id", "label", "predicted_label", "score"],
        ["0", "old", "is 0", "0"],
        ["1", "old", "", ""],
        ["2", "old", "is 2", "2"],
    ]
    assert results.records()[0] == {"id": 0, "label": "old", "predicted_label": "is 0", "score": 0}
    assert results.records()[1] == {"id": 1, "label": "old", "predicted_label": None, "score": None}


def test_a_table_of_empty_texts_gains_no_fields():
    results = ResultTable(table_of(("",)), [None], ["x"], lambda value: [value], lambda value: {"x": value})
    assert results.cells() == [["id", "label", "x"], ["0", "old", ""]] and results.records() == [
        {"id": 0, "label": "old"}
    ]
