"""A handful of examples is learned from, or refused before anything is learned."""

import json

import pytest

from regard.errors import ConfigError, DataError, RegardError
from regard.runs.train import train
from regard.tasks.finetune.pictures import draw_confusion

SMALL = {"model.preset": "bert-tiny", "model.width": 16, "model.heads": 2, "model.feed_forward_width": 32}
SMALL |= {"model.layers": 1, "text.size": 200, "train.steps": 3, "train.warmup": 1, "train.validate_every": 3}
SMALL |= {"train.examples_per_update": 1}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def labeled(count, **fields):
    return lines(*({"text": f"t {i}", "label": i % 2} | {k: v(i) for k, v in fields.items()} for i in range(count)))


TINY = {
    "classify": [
        labeled(2),
        labeled(4, text=lambda i: "\u200b" * (i + 1)),
        labeled(4, label=lambda i: "²①"[i % 2]),
    ],
    "regress": [labeled(4, label=lambda i: i * 2e29), labeled(4, label=lambda i: i * 5e-324)],
    "choose": [lines(*({"context": f"a{i}", "choices": ["b", "c"][: 2 + i], "label": i} for i in range(2)))],
    "tag": ["a O\n\nb B-X\n", "\n\n".join(f"{'x' * 900}{i} {'O' if i % 2 else 'B-X'}" for i in range(4)) + "\n"],
    "answer": [lines(*({"context": f"a b {i}", "question": "q", "answers": ["a"]} for i in range(2)))],
}


def written(tmp_path, task, text):
    path = tmp_path / ("a.conll" if task == "tag" else "a.jsonl")
    path.write_text(text, encoding="utf-8")
    return {"data.train.path": str(path)}


@pytest.mark.parametrize("task, text", [(task, text) for task, texts in TINY.items() for text in texts])
def test_two_examples_are_enough_to_begin(tmp_path, task, text):
    assert train(task, SMALL | written(tmp_path, task, text), out=tmp_path / "run").record.state == "finished"


@pytest.mark.parametrize("task", TINY)
def test_one_example_is_refused(tmp_path, task):
    first = "a O\nb B-X\n" if task == "tag" else TINY[task][0].splitlines()[0]
    with pytest.raises(DataError):
        train(task, SMALL | written(tmp_path, task, first), out=tmp_path / "run")
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize("task", TINY)
def test_a_model_without_room_for_a_text_is_refused(tmp_path, task):
    for positions in (1, 3, 7):
        with pytest.raises(
            ConfigError, match=rf"^model\.max_positions: {positions} positions leave no room for a text betw"
        ):
            train(task, SMALL | {"model.max_positions": positions} | written(tmp_path, task, TINY[task][0]))


def test_labels_of_thousands_of_digits_are_texts(tmp_path):
    text = labeled(6, label=lambda i: "19"[i % 2] * 5000)
    try:
        train("classify", SMALL | written(tmp_path, "classify", text), out=tmp_path / "run")
    except RegardError as error:
        assert "\n" not in str(error)


def test_labels_of_any_kind_are_drawn(tmp_path):
    labels = [r"$\frac$", "$5 or $6", "a\nb", "😀", "日本", "x" * 5000, "\\", "100%", "$"]
    rows = [[int(row == column) for column in range(len(labels))] for row in range(len(labels))]
    assert (tmp_path / draw_confusion(tmp_path, "$\\x$/../a.csv", rows, labels)).stat().st_size > 1000
