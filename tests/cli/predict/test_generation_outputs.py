"""Output of the verbs of translators and language models, over stub pipelines."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from regard.cli.predict import inspect, score
from regard.cli.predict.answers import on_one_line
from regard.cli.tables import print_results
from regard.errors import ConfigError, DataError
from regard.nn.probes.trace import Trace
from regard.tasks.language_model.options import PromptRow
from regard.tasks.language_model.results import Completion
from regard.tasks.translate.options import SourceRow
from regard.tasks.translate.results import Translation, TranslationCandidate


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


def scored(text, log_probabilities, **more):
    """The score of a text with a token per character."""
    total = sum(log_probabilities)
    return SimpleNamespace(
        text=text,
        tokens=tuple(text),
        log_probabilities=log_probabilities,
        log_probability=total,
        perplexity=float(np.exp(-total / max(1, len(log_probabilities)))),
        **more,
    )


def test_perplexity_over_all_pairs_is_that_of_all_their_tokens(capsys):
    scores = [scored("ab", (-1.0, -2.0), target="ab", source="x"), scored("c", (-3.0,), target="c", source="y")]
    score._print_pairs(scores, json=False)
    *rows, last = capsys.readouterr().out.splitlines()
    assert rows[1].split("\t") == ["-3.0000", "2", f"{np.exp(1.5):.2f}", "ab"]
    assert last == f"perplexity {np.exp(2):.4f} over 3 tokens, log probability -6.0000"
    score._print_pairs(scores, json=True)
    assert json.loads(capsys.readouterr().out)["perplexity"] == pytest.approx(np.exp(2))


def test_texts_of_a_file_are_its_lines_or_all_of_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\n\nb\n")
    assert score._texts(path, as_one_text=False) == ["a", "", "b"]
    assert score._texts(path, as_one_text=True) == ["a\n\nb\n"]
    path.write_text(" \n")
    with pytest.raises(DataError, match="there is no text to score; write one text per line."):
        score._texts(path, as_one_text=True)
    with pytest.raises(ConfigError, match="--alternatives 2 needs --json; add it, or leave out --alternatives."):
        score.score("missing", "a.txt", alternatives=2)


def test_iterations_show_kept_tokens_in_brackets(capsys):
    tokens = {"source": ["x"], "passes.0": ["a", "b"], "passes.1": ["a", "c"]}
    arrays = {
        "passes.0.probabilities": np.array([0.9, 0.4]),
        "passes.0.masked": np.array([1.0, 1.0]),
        "passes.1.probabilities": np.array([0.9, 0.6]),
        "passes.1.masked": np.array([0.0, 1.0]),
        "lengths": np.array([2.0, 3.0]),
        "lengths.probabilities": np.array([0.75, 0.25]),
    }
    inspect._print_iterations(Trace(tokens, arrays), json=False)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [["1", "a 0.90", "b 0.40"], ["2", "(a 0.90)", "c 0.60"]] and lines[0][0] == "iteration"
    inspect._print_iterations(Trace(tokens, arrays), json=True)
    result = json.loads(capsys.readouterr().out)
    assert result["iterations"][1]["is_filled_in"] == [False, True] and result["length_probabilities"] == [0.75, 0.25]


def test_the_logit_lens_has_a_column_per_block(capsys):
    tokens = {"text": ["t0", "t1"], "blocks.0": ["a", "b"], "blocks.1": ["c", "d"]}
    arrays = {}
    for block in (0, 1):
        arrays[f"blocks.{block}.ids"] = np.array([[2 * block, 9], [2 * block + 1, 9]])
        arrays[f"blocks.{block}.probabilities"] = np.array([[0.5, 0.1], [0.25, 0.1]])
    inspect._print_lens(Trace(tokens, arrays), None, json=False)
    assert capsys.readouterr().out == "token\tblock 0\tblock 1\nt0\ta 0.50\tc 0.50\nt1\tb 0.25\td 0.25\n"
    inspect._print_lens(
        Trace(tokens, arrays), SimpleNamespace(tokens=lambda ids: [str(each) for each in ids]), json=True
    )
    blocks = json.loads(capsys.readouterr().out)["blocks"]
    assert blocks[1][0] == [{"token": "2", "probability": 0.5}, {"token": "9", "probability": 0.1}]


def test_views_that_exclude_each_other_are_refused_before_loading(tmp_path):
    with pytest.raises(ConfigError, match="--logit-lens shows tokens, not weights; leave out --out, --attention and"):
        inspect.inspect("missing", "a", logit_lens=True, head=0)
    with pytest.raises(ConfigError, match="--iterations shows the decoding of a translation; leave out --logit-lens"):
        inspect.inspect("missing", "a", "b", iterations=2)
