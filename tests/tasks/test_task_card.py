"""The sections that the cards of all tasks share."""

from pathlib import Path

import pytest

from regard.pipelines.base import Options, Result
from regard.pipelines.inputs import SingleText
from regard.tasks.card import pretrained, source_of, usage
from regard.tasks.declarations import Operation
from regard.tasks.record import DataReport

PARTS = (SingleText, ("text",), Options, Result)
TRANSLATE = Operation(
    "translate", "Translate.", *PARTS, example='"your text"', call='model("your text").text', variable="model"
)
SCORE = Operation("score", "Score.", *PARTS, arguments="--source FILE")


def test_usage_has_the_operations_with_an_example_and_a_call_in_python():
    lines = usage(Path("runs/my run"), [SCORE, TRANSLATE])
    assert "regard translate 'runs/my run' \"your text\"" in lines and not any("regard score" in x for x in lines)
    assert 'model = regard.load("runs/my run")' in lines and 'model("your text").text' in lines
    compile("\n".join(lines[lines.index("```python") + 1 : -1]), "usage", "exec")


def test_a_task_without_a_call_has_no_usage():
    with pytest.raises(StopIteration):
        usage(Path("r"), [SCORE])


def test_the_pretrained_model_is_named_with_its_hash():
    origin = {"path": "hf:bert", "sha256": "ab"}
    assert pretrained(DataReport.model_validate({"hash": "x", "init_from": origin})) == [
        "",
        "Initialized from `hf:bert`, SHA-256 `ab`.",
    ]
    assert pretrained(DataReport(hash="x")) == []


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("train", "`a.de`, `a.en` (at most 1,000)"),
        ("valid", "held out of train"),
        ("test x", "`t.tsv`, `r1`, `r2`"),
        ("test y", "`b.txt`, `c.txt`"),
    ],
)
def test_sources_are_named_as_in_the_settings(role, text):
    sources = {
        "train": {"source": "a.de", "target": "a.en", "max_rows": 1000},
        "valid": None,
        "test": {"x": {"path": "t.tsv", "references": ["r1", "r2"]}, "y": {"paths": ["b.txt", "c.txt"]}},
    }
    assert source_of(sources, role) == text


def test_the_arguments_of_an_operation_are_its_inputs_unless_it_names_others():
    assert TRANSLATE.usage == "TEXT" and SCORE.usage == "--source FILE"
