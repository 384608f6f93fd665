"""Results of a pipeline as additional columns of a table."""

from dataclasses import dataclass

from regard.pipelines.base import Result
from regard.pipelines.result_tables import ResultTable
from regard.pipelines.text_tables import TextTable


@dataclass(frozen=True)
class Scored(Result):
    score: int

    columns = ("label", "score")

    @property
    def label(self):
        return f"is {self.score}"


def table_of(count: int) -> TextTable:
    return TextTable(["id", "label"], [{"id": number, "label": "old"} for number in range(count)], [], [])


def test_columns_are_added_and_those_of_the_same_name_kept():
    results = ResultTable(table_of(3), [Scored(0), None, Scored(2)])
    assert results.cells() == [
        ["id", "label", "predicted_label", "score"],
        ["0", "old", "is 0", "0"],
        ["1", "old", "", ""],
        ["2", "old", "is 2", "2"],
    ]
    assert results.records()[0] == {"id": 0, "label": "old", "predicted_label": "is 0", "score": 0}
    assert results.records()[1] == {"id": 1, "label": "old", "predicted_label": None, "score": None}


def test_a_table_of_empty_texts_gains_nothing():
    results = ResultTable(table_of(1), [None])
    assert results.cells() == [["id", "label"], ["0", "old"]] and results.records() == [{"id": 0, "label": "old"}]
