"""Sets of the `datasets` library with odd features, missing values and fields inside others."""

import datetime

import pytest

from regard.data.settings.examples import ChoiceSource, LabelSource, QuestionSource, TagSource
from regard.data.settings.pairs import PairSource
from regard.data.settings.text import TextSource
from regard.data.sources.conll import read_tagged
from regard.data.sources.labeled import read_labeled
from regard.data.sources.multiple_choice import read_choices
from regard.data.sources.pairs import read_pairs
from regard.data.sources.squad import read_questions
from regard.data.sources.text_files import read_documents
from regard.errors import DataError, RegardError

datasets = pytest.importorskip("datasets")
datasets.disable_progress_bars()


def saved(tmp_path, columns, **features):
    kinds = datasets.Features(features) if features else None
    datasets.Dataset.from_dict(columns, features=kinds).save_to_disk(str(tmp_path / "set"))
    return f"hf:{tmp_path / 'set'}"


def test_labels_that_are_missing_or_out_of_range_are_none(tmp_path):
    path = saved(
        tmp_path,
        {"text": ["a", "b", "c"], "label": [1, None, -1]},
        text=datasets.Value("string"),
        label=datasets.ClassLabel(names=["no", "yes"]),
    )
    assert [each.label for each in read_labeled(LabelSource(path=path))] == ["yes", "", ""]


def test_a_label_that_is_a_list_is_refused(tmp_path):
    path = saved(tmp_path, {"text": ["a"], "label": [["x", "y"]]})
    with pytest.raises(DataError, match='record 1 has a list under "label", where one text or number is needed'):
        read_labeled(LabelSource(path=path))


def test_a_date_is_no_label(tmp_path):
    path = saved(tmp_path, {"text": ["a"], "label": [datetime.datetime(2020, 1, 1)]})
    with pytest.raises(DataError, match='record 1 has a value of type datetime under "label"'):
        read_labeled(LabelSource(path=path))


def test_tags_by_name_and_answers_as_squad_has_them(tmp_path):
    tags = datasets.Sequence(datasets.ClassLabel(names=["O", "B-PER"]))
    columns = {"tokens": [["Ann", "ran"]], "tags": [[1, 0]]}
    path = saved(tmp_path / "tags", columns, tokens=datasets.Sequence(datasets.Value("string")), tags=tags)
    assert read_tagged(TagSource(path=path))[0].tags == ("B-PER", "O")
    path = saved(
        tmp_path / "asked",
        {"context": ["Ann ran."], "question": ["Who?"], "answers": [{"text": ["Ann"], "answer_start": [0]}]},
    )
    assert read_questions(QuestionSource(path=path))[0].answers == (("Ann", 0),)


ODD = [
    {"text": [None, "a"], "label": [None, "x"]},
    {"text": [b"a"], "label": [b"x"]},
    {"text": [["a"]], "label": [1.5]},
    {"text": [{"de": "a", "en": "b"}], "label": [{"x": 1}]},
    {"tokens": [["a", None]], "tags": [["O", "O"]]},
    {"tokens": [[["a"]]], "tags": [["O"]]},
    {"tokens": [b"ab"], "tags": [b"ab"]},
    {"context": ["a"], "question": [None], "answers": [None]},
    {"context": ["a"], "question": ["b"], "answers": [{"text": [None], "answer_start": [None]}], "id": [None]},
    {"context": ["a"], "choices": [["x", None]], "label": [0]},
    {"context": ["a"], "choices": [{"text": ["x", "y"], "label": [1, 2]}], "label": [None]},
    {"source": [None], "target": [1]},
    {"text": [], "label": []},
]


@pytest.mark.parametrize("columns", ODD, ids=str)
def test_odd_features_are_read_or_refused(tmp_path, columns):
    path = saved(tmp_path, columns)
    for read in (
        lambda: read_labeled(LabelSource(path=path)),
        lambda: read_labeled(LabelSource(path=path), is_number=True),
        lambda: read_choices(ChoiceSource(path=path)),
        lambda: read_questions(QuestionSource(path=path)),
        lambda: read_tagged(TagSource(path=path)),
        lambda: read_pairs(PairSource(path=path)),
        lambda: list(read_documents(TextSource(paths=(path,)))),
    ):
        try:
            read()
        except RegardError as error:
            assert "\n" not in str(error)
