"""Output of the verbs of translators and language models, over stub pipelines."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from regard.cli import inputs
from regard.cli.predict import generate, inspect, score, translate
from regard.errors import ConfigError, DataError
from regard.nn.probes.trace import Trace
from regard.tasks.language_model.results import Completion
from regard.tasks.translate.results import Translation


class Echo:
    """A generator that repeats the prompt, streamed character by character, and keeps its first rows."""

    def __init__(self):
        self.first_rows = []

    def generation(self, num_samples=None, **_):
        return SimpleNamespace(num_samples=num_samples or 1)

    def stream(self, prompt, first_row, **_):
        self.first_rows.append(first_row)
        yield from prompt

    def __call__(self, prompts, first_row, progress, num_samples=None, **_):
        self.first_rows.append(first_row)
        one = lambda text, samples=(): Completion(text, text, (text,), (1,), (-0.5,), "eos", samples)
        return [one(text, tuple(one(text) for _ in range(num_samples or 0))) for text in prompts]


@pytest.fixture
def generator(monkeypatch):
    stub = Echo()
    monkeypatch.setattr("regard.tasks.load.load", lambda *_, **__: stub)
    return stub


def test_a_streamed_prompt_reads_like_a_batch_of_prompts(generator, tmp_path, monkeypatch, capsys):
    (tmp_path / "a.txt").write_text("ab\ncd\nef\n")
    generate.generate("run", file=tmp_path / "a.txt", quiet=True)
    batched = capsys.readouterr().out
    monkeypatch.setattr(inputs, "CHUNK", 1)
    generate.generate("run", file=tmp_path / "a.txt", quiet=True)
    assert capsys.readouterr().out == batched == "ab\n\ncd\n\nef\n" and generator.first_rows == [1, 1, 2, 3]


def test_samples_are_separated_and_json_has_all_of_them(generator, capsys):
    generate.generate("run", ["a"], num_samples=2, quiet=True)
    assert capsys.readouterr().out == "a\n\na\n"
    generate.generate("run", ["a"], num_samples=2, quiet=True, json=True)
    result = json.loads(capsys.readouterr().out)
    assert len(result["samples"]) == 2 and result["finish_reason"] == "eos" and result["log_probability"] == -0.5


def test_a_context_window_is_a_number_or_a_word():
    assert [generate._window(word) for word in (None, "16", "trained")] == [None, 16, "trained"]


def test_an_empty_file_of_prompts_is_refused_before_loading(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(DataError, match="the file is empty; write one prompt per line."):
        generate.generate("missing", file=tmp_path / "a.txt")


class Reverse:
    """A translator that reverses a text; n-best are the text with a number."""

    def __init__(self):
        self.settings = []

    def decoding(self, **settings):
        return SimpleNamespace(hypotheses=settings.get("num_samples") or settings["beam_size"] or 2)

    def __call__(self, texts, prefix, first_row, progress, **settings):
        self.settings.append(settings)
        return [
            Translation(text, text[::-1], -1.0, tuple(text[::-1]), lambda: tuple(range(5)))  # candidates
            for text in texts
        ]


@pytest.fixture
def translator(monkeypatch):
    stub = Reverse()
    monkeypatch.setattr("regard.tasks.load.load", lambda *_, **__: stub)
    return stub


def test_a_translation_is_one_line_whatever_its_characters(translator, capsys):
    translate.translate("run", ["ab", "", "c\nd"], quiet=True)
    assert capsys.readouterr().out == "ba\n\nd c\n"


def test_n_best_limits_candidates_and_is_the_number_of_samples(translator, capsys):
    translate.translate("run", ["ab"], beam_size=4, n_best=3, quiet=True, json=True)
    assert json.loads(capsys.readouterr().out)["candidates"] == [0, 1, 2]
    translate.translate("run", ["ab"], method="sample", n_best=4, quiet=True, json=True)
    beam, sample = translator.settings
    assert "num_samples" not in beam and sample["num_samples"] == 4


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"n_best": 3, "json": True}, "--n-best 3 is more than the 2 beams; raise --beam-size."),
        ({"n_best": 2}, "--n-best 2 needs --json; add it, or leave out --n-best."),
        ({"alternatives": 2, "n_best": 2}, "--n-best 2 has no meaning with --alternatives; leave one of them out."),
    ],
)
def test_candidates_that_there_cannot_be_are_refused(translator, flags, sentence):
    with pytest.raises(ConfigError) as error:
        translate.translate("run", ["a"], **flags)
    assert str(error.value) == sentence


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
