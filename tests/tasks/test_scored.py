"""The rows to score are lines of files, whole files, or the arguments; anything else is refused in one sentence."""

import pytest

from regard.errors import ConfigError, DataError
from regard.pipelines.settings import ScoredInputs
from regard.tasks.contract import find_task
from regard.tasks.scored import scored_rows

TRANSLATOR, LANGUAGE_MODEL = find_task("translate"), find_task("language-model")


def test_rows_are_lines_whole_files_or_arguments(tmp_path):
    one, two = tmp_path / "a.txt", tmp_path / "b.txt"
    one.write_text("a\nb\n")
    two.write_text("c\nd\n")
    assert scored_rows(LANGUAGE_MODEL, "r", [str(one)], ScoredInputs()) == ["a", "b"]
    assert scored_rows(LANGUAGE_MODEL, "r", [str(one)], ScoredInputs(as_one_text=True)) == ["a\nb\n"]
    assert scored_rows(LANGUAGE_MODEL, "r", ["a b"], ScoredInputs(inline=True)) == ["a b"]
    assert [tuple(pair) for pair in scored_rows(TRANSLATOR, "r", [str(one), str(two)], ScoredInputs())] == [
        ("a", "c"),
        ("b", "d"),
    ]
    assert scored_rows(TRANSLATOR, "r", ["x", "y"], ScoredInputs(inline=True)) == [("x", "y")]


@pytest.mark.parametrize(
    ("task", "files", "inputs", "sentence"),
    [
        (find_task("tag"), ["a"], {}, "r: this is neither a translator nor a language model, so texts have no"),
        (TRANSLATOR, ["a"], {}, "r: this is a translator; give a source file and a target file."),
        (TRANSLATOR, ["a", "b"], {"as_one_text": True}, "--as-one-text: r is a translator, which scores line by"),
        (LANGUAGE_MODEL, ["a", "b"], {}, "r: this is a language model, not a translator; leave out TARGET."),
        (LANGUAGE_MODEL, [" "], {"inline": True}, '" ": there is no text to score; give some with --inline.'),
    ],
)
def test_what_is_no_row_is_refused(task, files, inputs, sentence):
    with pytest.raises((ConfigError, DataError)) as error:
        scored_rows(task, "r", files, ScoredInputs(**inputs))
    assert str(error.value).startswith(sentence)
