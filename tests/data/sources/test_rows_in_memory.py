import datasets
import numpy as np
import pytest

from regard.data.sources.memory import ANSWERS, LABEL, NUMBER, TEXT, memory_lines, record_of
from regard.errors import DataError

LABELED = ({"text": TEXT, "label": LABEL}, {"text1": TEXT, "text2": TEXT, "label": LABEL})
ONE = '{"text": "fine", "label": "good"}'


class Polars:
    def to_dicts(self):
        return [{"text": "fine", "label": "good"}]


class Pandas:
    columns = ("text", "label")

    def to_dict(self, orient):
        assert orient == "records"
        return [{"text": "fine", "label": "good"}]


def hugging_face():
    classes = datasets.ClassLabel(names=["bad", "good"])
    features = datasets.Features({"text": datasets.Value("string"), "label": classes})
    return datasets.Dataset.from_dict({"text": ["fine"], "label": [1]}, features=features)


@pytest.mark.parametrize(
    "rows", [[("fine", "good")], iter([["fine", "good"]]), [{"text": "fine", "label": "good"}], Polars(), Pandas()]
)
def test_rows_of_any_kind_are_the_same_lines(rows):
    assert memory_lines(rows, LABELED) == [ONE]


def test_class_labels_of_a_data_set_are_their_names():
    assert memory_lines(hugging_face(), LABELED) == [ONE]


def test_arrays_and_scalars_of_numpy_are_plain_and_a_missing_value_is_none():
    row = {"text": "fine", "label": np.int64(3), "tags": np.array([1, 2]), "more": float("nan")}
    assert record_of(row, 1, LABELED) == {"text": "fine", "label": 3, "tags": [1, 2], "more": None}
    assert record_of(("one", "two", 1), 1, LABELED) == {"text1": "one", "text2": "two", "label": 1}
    assert memory_lines(["A text.", ("Another.",)][:1], ({"text": TEXT},)) == ['{"text": "A text."}']


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("a", "b"), "c"], "row 2 is not (text, label) or (text1, text2, label); give that, or a dict of columns."),
        ([("a", None)], "row 1 is not (text, label) or (text1, text2, label); give that, or a dict of columns."),
        ([(1, "b")], "the text of row 1 is not text; fix it."),
        ([("a", ["b"])], "the label of row 1 is not text or a number; fix it."),
        (
            [{"text": "a", "label": "b", "when": object()}],
            "row 1 holds a value that JSON has no form for; give text.",
        ),
        ({"train": [], "test": []}, "this is a dictionary (train, test); give one list of rows or one split."),
        (5, "a value of type int has no rows; give a list of them."),
    ],
)
def test_a_bad_row_is_refused_with_its_number(rows, sentence):
    with pytest.raises(DataError) as error:
        memory_lines(rows, LABELED, "valid")
    assert str(error.value) == f"valid: {sentence}"


def test_numbers_are_numbers_and_answers_are_texts_or_lists():
    with pytest.raises(DataError, match="the label of row 1 is not a number"):
        memory_lines([("a", "b")], ({"text": TEXT, "label": NUMBER},))
    shape = {"question": TEXT, "context": TEXT, "answers": ANSWERS}
    assert memory_lines([("q", "c", ["a"])], (shape,)) == ['{"question": "q", "context": "c", "answers": ["a"]}']
