"""Output of the verbs of fine-tuned models, over stub pipelines: one prediction per line, blank lines kept."""

import json
from pathlib import Path

import pytest

from regard.cli.predict import answer, choose, tag, text_verbs
from regard.errors import ConfigError
from regard.pipelines.inputs import TextRow
from regard.tasks.answer.pipeline import Answer, AnswerSpan, QuestionAndContext
from regard.tasks.choose.pipeline import ChoiceResult, ChoiceRow
from regard.tasks.classify.pipeline import Classification
from regard.tasks.regress.pipeline import Regression
from regard.tasks.tag.pipeline import TaggedSpan, Tagging, WordsRow


@pytest.fixture
def lines(tmp_path):
    """A function that writes lines to a file."""

    def write(*texts: str) -> Path:
        path = tmp_path / "lines.txt"
        path.write_text("".join(f"{text}\n" for text in texts))
        return path

    return write


@pytest.fixture
def loaded(monkeypatch):
    """A function that replaces a loader of pipelines by a stub."""

    def put(name: str, pipeline) -> None:
        monkeypatch.setattr(f"regard.tasks.load.{name}", lambda *_, **__: pipeline)

    return put


def test_labels_have_a_probability_and_blank_lines_none(loaded, lines, capsys):
    label = lambda text: Classification(
        TextRow(text), "long" if len(text) > 1 else "short", {"long": 0.7, "short": 0.3}, False
    )
    loaded("load", lambda texts, **_: [label(text) for text in texts])
    file = lines("aa", "", "b")
    text_verbs.classify("run", file=file, quiet=True)
    assert capsys.readouterr().out == "long\t0.7000\n\nshort\t0.3000\n"
    text_verbs.classify("run", file=file, quiet=True, json=True)
    first, blank, last = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["label"] == "long" and first["probability"] == 0.7 and blank is None and last["text"] == "b"


def test_numbers_are_printed_one_per_line(loaded, lines, capsys):
    loaded("load", lambda texts, **_: [Regression(TextRow(text), len(text) / 3, False) for text in texts])
    text_verbs.regress("run", file=lines("a", " ", "bb"), quiet=True)
    assert capsys.readouterr().out == "0.3333\n\n0.6667\n"
    text_verbs.regress("run", ["abc"], quiet=True, json=True)
    assert json.loads(capsys.readouterr().out) == {"text": "abc", "number": 1.0, "is_truncated": False}


def test_words_and_tags_end_with_a_blank_line_per_text(loaded, lines, capsys):
    span = TaggedSpan("b", "PER", 1, 2, 0.5)
    tagging = lambda text: Tagging(WordsRow(text), tuple(text), ("O", "B-PER")[: len(text)], (1.0, 0.5), (span,))
    loaded("load", lambda texts, **_: [tagging(text) for text in texts])
    tag.tag("run", file=lines("ab", "", "c"), quiet=True)
    assert capsys.readouterr().out == "a\tO\nb\tB-PER\n\n\nc\tO\n\n"
    tag.tag("run", ["ab"], quiet=True, json=True)
    assert json.loads(capsys.readouterr().out)["spans"] == [vars(span)]
    with pytest.raises(ConfigError, match=r"--word-column is for word files \(\.conll, "):
        tag.tag("run", ["ab"], word_column="0")


def test_words_of_a_conll_file_are_tagged_as_they_are(loaded, tmp_path, capsys):
    tagging = lambda words: Tagging(WordsRow(words=words), words, ("X",) * len(words), (), ())
    loaded("load", lambda rows, **_: [tagging(row["words"]) for row in rows])
    path = tmp_path / "a.conll"
    path.write_text("0 New-York\n1 is\n\n0 old\n")
    tag.tag("run", file=path, word_column="1", quiet=True)
    assert capsys.readouterr().out == "New-York\tX\nis\tX\n\nold\tX\n\n"


def test_the_best_choice_has_its_index_probability_and_text(loaded, lines, capsys):
    result = lambda context, choices: ChoiceResult(ChoiceRow(context, choices), 1, (0.25, 0.75))
    loaded("load", lambda rows, **_: [result(*row) for row in rows])
    choose.choose("run", file=lines("c\ta\tb  b", "", "d\te\tf"), quiet=True)
    assert capsys.readouterr().out == "1\t0.7500\tb b\n\n1\t0.7500\tf\n"
    choose.choose("run", ["c", "a", "b"], quiet=True, json=True)
    record = json.loads(capsys.readouterr().out)
    assert (record["context"], record["choice"], record["probability"]) == ("c", "b", 0.75)


def test_answers_follow_their_questions_and_keep_ids(loaded, lines, tmp_path, capsys):
    def answerer(rows, count, threshold, progress):
        spans = lambda context: [AnswerSpan(context[:n], 0, n, 1 / n) for n in range(1, count + 1)]
        rows = [QuestionAndContext(*row) for row in rows]
        return [Answer(row, (answers := spans(row.context))[0], tuple(answers[1:]), -1.0) for row in rows]

    loaded("load", answerer)
    answer.answer("run", file=lines("who?\tanna", "", "what?\tkey"), count=2, quiet=True)
    assert capsys.readouterr().out == "1.0000\ta\n0.5000\tan\n\n1.0000\tk\n0.5000\tke\n"
    (tmp_path / "c.txt").write_text("text")
    answer.answer("run", ["q1", "q2"], context=tmp_path / "c.txt", quiet=True, json=True)
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["question"], each["answers"][0]["text"]) for each in records] == [("q1", "t"), ("q2", "t")]
    assert records[0]["null_score_gap"] == -1.0
    squad = {
        "data": [{"paragraphs": [{"context": "key", "qas": [{"id": "x7", "question": "what?", "answers": []}]}]}]
    }
    (tmp_path / "a.json").write_text(json.dumps(squad))
    answer.answer("run", file=tmp_path / "a.json", quiet=True)
    assert capsys.readouterr().out == "x7\t1.0000\tk\n"


@pytest.mark.parametrize(
    ("words", "context", "file", "out", "sentence"),
    [
        (["a", "b"], None, "f.txt", None, "Give either a question and its context or --file, not both."),
        (
            ["a"],
            None,
            None,
            None,
            "Give one question and one context, or questions and --context FILE; got 1 arguments.",
        ),
        (None, "c", "f.txt", None, "--context is for questions on the command line; leave out --context or --file."),
        (None, None, "f.json", "o.csv", "--out is for tables; give one with --file."),
    ],
)
def test_conflicting_arguments_of_answer_are_refused_before_loading(words, context, file, out, sentence):
    paths = (each and Path(each) for each in (context, file, out))
    with pytest.raises(ConfigError) as error:
        context_path, file_path, out_path = paths
        answer.answer("missing", words, context_path, file_path, out=out_path)
    assert str(error.value) == sentence
