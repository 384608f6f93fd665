"""Output of the verbs of translators and language models, over stub pipelines."""

import json

import numpy as np
import pytest

from commands import refused
from regard.cli.options import Given
from regard.cli.predict import score
from regard.cli.predict.answers import print_results
from regard.data.sources.pair import Pair
from regard.errors import ConfigError, DataError
from regard.escaping import on_one_line
from regard.pipelines.settings import ScoredInputs
from regard.tasks.contract import find_task
from regard.tasks.language_model.options import PromptRow
from regard.tasks.language_model.results import Completion
from regard.tasks.scored import scored_rows
from regard.tasks.translate.options import SourceRow
from regard.tasks.translate.results import PairScore, Translation, TranslationCandidate


def completion(text, samples=()):
    return Completion(PromptRow("a"), text, tuple(text), (1,), (-0.5,), "eos", samples)


def translated(*texts, n_best=None):
    """A translation with candidates, best first."""
    candidates = tuple(TranslationCandidate(each, 1.0 - rank, -1.0, (), (), "eos") for rank, each in enumerate(texts))
    return Translation(SourceRow("x"), texts[0], 0.0, (), lambda: candidates, n_best)


def test_texts_of_several_lines_have_a_blank_line_between_them(capsys):
    print_results(Completion, [completion("a\nb"), completion("c")], False, 1)
    print_results(Completion, [completion("d")], False, 3)
    assert capsys.readouterr().out == "a\nb\n\nc\n\nd\n"


def test_samples_are_told_apart_by_prompt_and_number(capsys):
    both = completion("a", (completion("a"), completion("b\nc")))
    print_results(Completion, [both], False)
    assert capsys.readouterr().out == "--- output 1 of 2 ---\na\n--- output 2 of 2 ---\nb\nc\n"
    print_results(Completion, [both, both], False, 1)
    assert capsys.readouterr().out.count("--- prompt 2, output 1 of 2 ---\na\n") == 1
    assert both.record()["outputs"] == ["a", "b\nc"] and json.loads(both.cells()["outputs"]) == ["a", "b\nc"]


def test_a_translation_is_one_line_and_each_of_the_n_best_has_its_row_and_rank(capsys):
    print_results(Translation, [translated("a\nb"), None, translated("c", "d")], False, 1)
    assert capsys.readouterr().out == "a b\n\nc\n"
    two = translated("c", "d", "e", n_best=2)
    print_results(Translation, [two], False)
    print_results(Translation, [two, two], False, 7)
    rows = capsys.readouterr().out.splitlines()
    assert rows[:2] == ["1\t1.0000\tc", "2\t0.0000\td"] and rows[2:4] == ["7\t1\t1.0000\tc", "7\t2\t0.0000\td"]
    assert len(rows) == 6 and two.record()["outputs"] == ["c", "d"] and len(two.to_dict()["candidates"]) == 2


@pytest.mark.parametrize("text", ["one two", "one\ntwo\n", "\n\r\none", "one\u2028\n\ntwo", "", "\n"])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_stream_on_one_line_is_the_text_on_one_line(text, size):
    parts = [text[begin : begin + size] for begin in range(0, len(text), size)]
    assert "".join(on_one_line(parts)) == " ".join(text.splitlines())


def test_perplexity_over_all_pairs_is_that_of_all_their_tokens(capsys):
    scores = [PairScore(Pair("x", "ab"), ("a", "b"), (-1.0, -2.0)), PairScore(Pair("y", "c"), ("c",), (-3.0,))]
    score._print(Given(), find_task("translate"), scores, None)
    *rows, last = capsys.readouterr().out.splitlines()
    assert rows[1].split("\t") == ["-3.0000", "2", f"{np.exp(1.5):.2f}", "ab"]
    assert last == f"perplexity {np.exp(2):.4f}, log probability -6.0000, over 3 tokens"
    score._print(Given(json=True), find_task("translate"), scores, None)
    printed = json.loads(capsys.readouterr().out)
    assert printed["perplexity"] == pytest.approx(np.exp(2)) and printed["sentences"][1]["log_probability"] == -3


def test_texts_of_a_file_are_its_lines_or_all_of_it(tmp_path):
    path, task = tmp_path / "a.txt", find_task("language-model")
    path.write_text("a\n\nb\n")
    assert scored_rows(task, "r", [str(path)], ScoredInputs()) == ["a", "", "b"]
    assert scored_rows(task, "r", [str(path)], ScoredInputs(as_one_text=True)) == ["a\n\nb\n"]
    path.write_text(" \n")
    with pytest.raises(DataError, match="there is no text to score; write one text per line."):
        scored_rows(task, "r", [str(path)], ScoredInputs(as_one_text=True))
    with pytest.raises(ConfigError, match="r: this is neither a translator nor a language model"):
        scored_rows(find_task("classify"), "r", [str(path)], ScoredInputs())


def test_views_that_exclude_each_other_are_refused_before_loading():
    for flags, sentence in (
        (("--logit-lens", "--head", 0), "--logit-lens shows tokens, not weights; leave out --out,"),
        (("b", "--iterations", 2), "--iterations shows the decoding of a translation; leave out the target."),
        (
            ("--iterations", 2, "--logit-lens"),
            "--iterations shows the decoding of a translation; leave out",
        ),
        (("--out", "a.png", "--top", 2), "--top is for lists, and --out plots all weights; leave one of them out."),
    ):
        assert refused("inspect", "missing", "a", *flags).startswith(sentence)
