"""Every pipeline: call, list, map, stream, table, score, options, repr, bad rows and plain values."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from encoder_folders import bert_tokenizer, small_encoder_bundle
from head_bundles import TEXTS, head_bundle
from regard.config.schema import fields_of
from regard.config.settings import Settings
from regard.errors import ConfigError, DataError
from regard.pipelines.base import Result
from regard.pipelines.encoder import Encoder
from regard.tasks.answer.pipeline import QuestionAnswerer
from regard.tasks.choose.pipeline import MultipleChoice
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.contract import find_task
from regard.tasks.regress.pipeline import Regressor
from regard.tasks.tag.pipeline import Tagger


@dataclass(frozen=True)
class Case:
    """A pipeline, two rows that it takes as tuples, and the columns of a table that holds them."""

    make: Callable[[], Any]
    rows: list[tuple[Any, ...]]
    columns: tuple[str, ...]
    values: Callable[[Any], Any]
    """What of a result must be the same in a batch and alone."""


tokenizer_of_bert = cache(lambda: bert_tokenizer(size=300))
SINGLE = [(TEXTS[0],), (TEXTS[1],)]
QUESTIONS = [("what was good?", TEXTS[0]), ("who?", TEXTS[1])]
CHOICES = [(TEXTS[0], ("was good", "was bad")), (TEXTS[1], ("was good", "was bad"))]
CASES = {
    "classify": Case(
        lambda: Classifier(head_bundle("classify")), SINGLE, ("text",), lambda each: [*each.probabilities.values()]
    ),
    "classify pairs": Case(
        lambda: Classifier(head_bundle("classify", texts=2)),
        [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])],
        ("text_a", "text_b"),
        lambda each: [*each.probabilities.values()],
    ),
    "regress": Case(lambda: Regressor(head_bundle("regress")), SINGLE, ("text",), lambda each: each.number),
    "tag": Case(lambda: Tagger(head_bundle("tag")), SINGLE, ("text",), lambda each: [*each.probabilities]),
    "embed": Case(
        lambda: Encoder(small_encoder_bundle(tokenizer_of_bert())), SINGLE, ("text",), lambda each: [*each.vector]
    ),
    "choose": Case(
        lambda: MultipleChoice(head_bundle("choose")),
        CHOICES,
        ("context", "choices"),
        lambda each: [*each.probabilities],
    ),
    "answer": Case(
        lambda: QuestionAnswerer(head_bundle("answer")),
        QUESTIONS,
        ("question", "context"),
        lambda each: each.null_score_gap,
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def test_a_row_is_arguments_a_tuple_or_a_dict_and_a_list_is_many(case):
    pipeline = case.make()
    alone = [pipeline(*row) for row in case.rows]
    for given in (case.rows, iter(case.rows), [dict(zip(pipeline.inputs, row)) for row in case.rows]):
        together = pipeline(given)
        assert isinstance(together, list) and all(isinstance(each, Result) for each in together)
        for one, other in zip(alone, together, strict=True):
            assert one.row == other.row and case.values(other) == pytest.approx(case.values(one), abs=1e-4)
    assert case.values(pipeline(case.rows[0])) == case.values(alone[0]) and pipeline([]) == []


def test_map_takes_any_number_of_rows_lazily(case):
    pipeline, taken = case.make(), []

    def endless():
        while True:
            taken.append(1)
            yield case.rows[len(taken) % 2]

    results = pipeline.map(endless(), chunk=2)
    assert [next(results).row for _ in range(3)] == [pipeline(case.rows[n % 2]).row for n in (1, 2, 3)]
    assert len(taken) == 4


def test_rows_of_a_table_get_columns(case, tmp_path):
    pipeline, names = case.make(), case.columns
    records = [dict(zip(names, row)) for row in case.rows]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    table = pipeline.table(tmp_path / "a.jsonl")
    expected = pipeline(case.rows)
    assert [each.row for each in table.results] == [each.row for each in expected]
    (header, *cells), added = table.cells(), list(expected[0].cells())
    assert header == [*names, *added] and all(len(row) == len(header) for row in cells)
    assert set(table.records()[0]) == {*names, *expected[0].columns}
    json.dumps(table.records())
    with pytest.raises(ConfigError, match="columns: nothing is not one of "):
        pipeline.table(tmp_path / "a.jsonl", columns={"nothing": "text"})


def test_a_bad_row_is_named_by_its_line_or_by_where_it_is(case):
    pipeline = case.make()
    bad = tuple(" " if isinstance(value, str) else value for value in case.rows[0])
    with pytest.raises(DataError, match=r"line 8 is empty; give some text\."):
        pipeline([case.rows[0], bad], first_row=7)
    with pytest.raises(DataError, match=r"a\.csv: row 2 is empty; give some text\."):
        pipeline([bad], where=["a.csv: row 2"])
    with pytest.raises(DataError, match="line 1: a row has .*, and colour was given; correct the name"):
        pipeline({"colour": "red"})


def test_unknown_options_are_refused_and_given_ones_hold(case):
    pipeline = case.make()
    with pytest.raises(ConfigError, match="colour: unknown setting, given as 1"):
        pipeline(*case.rows[0], colour=1)
    options = pipeline.options()
    assert isinstance(options, pipeline.options_class) and pipeline.options(options) == options
    assert case.values(pipeline(*case.rows[0], options=options)) == case.values(pipeline(*case.rows[0]))


def test_results_are_plain_values_and_one_line(case):
    pipeline = case.make()
    result = pipeline(*case.rows[0])
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain[pipeline.inputs[0]] == case.rows[0][0] and "row" not in plain
    assert str(result) == result.text and "\n" not in str(result)


def test_what_a_model_cannot_do_is_refused_in_one_sentence(case):
    pipeline = case.make()
    noun = find_task(pipeline.task).wording.noun
    for name in ("stream", "score"):
        with pytest.raises(ConfigError) as error:
            getattr(pipeline, name)(*case.rows[:1])
        assert str(error.value).startswith(f"{name}: this model is {noun}, which ")


def test_a_forward_pass_can_be_inspected(case):
    pipeline = case.make()
    trace = pipeline.inspect(*case.rows[0])
    count = len(trace.tokens["text"])
    assert trace.kinds == ("self",) and trace.attention().shape[1:] == (count, count)
    assert abs(trace.attention().sum(-1) - 1).max() < 1e-4 and count > 4


def test_the_name_of_a_pipeline_has_model_parameters_device_and_path(case):
    pipeline = case.make()
    pipeline.origin = "runs/mine"
    name = type(pipeline).__name__
    assert re.fullmatch(name + r"\(bert, [\d,]+ parameters, cpu fp32, runs/mine\)", repr(pipeline))


def test_operations_declare_rows_options_and_results_of_their_pipelines(case):
    pipeline = case.make()
    operations = find_task(pipeline.task).operations
    operation = next(each for each in operations if each.method == "__call__")
    assert (operation.row, operation.inputs) == (type(pipeline).row, type(pipeline).inputs)
    assert operation.options is type(pipeline).options_class and issubclass(operation.options, Settings)
    assert set(operation.inputs) <= {field.name for field in fields_of(operation.row)}
    assert all(field.doc for field in fields_of(operation.row))
    assert isinstance(pipeline(*case.rows[0]), operation.result)
