"""A tiny run of every task: data in files, settings that train it in a second or two, and verbs that use it."""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labeled import reviews
from regard import miniature
from tuning import asked, write_rated, write_tagged

QUICK = {"train.steps": 4, "train.warmup": 1, "train.validate_every": 2, "preflight": False}
BODY = {**QUICK, "model.width": 16, "model.feed_forward_width": 32, "model.heads": 2, "text.size": 300}
BERT = {**BODY, "model.layers": 1, "model.max_positions": 64}
TUNED = {**BERT, "model.preset": "bert-tiny", "train.examples_per_update": 8}


@dataclass(frozen=True)
class TinyTask:
    """How a task is trained on next to nothing."""

    name: str
    write: Callable[[Path], dict[str, str]]
    """Writes its data into a folder and returns the settings that name the files."""
    settings: dict[str, Any] = field(default_factory=dict)

    def words(self, folder: Path) -> list[str]:
        """Return the words of a command line that trains it, its data written first."""
        return [self.name, *(f"{key}={value}" for key, value in self.overrides(folder).items())]

    def overrides(self, folder: Path) -> dict[str, Any]:
        """Return all settings that are not the defaults, its data written first."""
        folder.mkdir(parents=True, exist_ok=True)
        return self.write(folder) | self.settings


def _pairs(folder: Path) -> dict[str, str]:
    pairs = miniature.pairs("train", 80)
    (folder / "a.de").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "a.en").write_text("".join(pair.target + "\n" for pair in pairs))
    return {"data.train.source": str(folder / "a.de"), "data.train.target": str(folder / "a.en")}


def _stories(folder: Path) -> dict[str, str]:
    (folder / "stories.txt").write_text("\n\n".join(miniature.documents("train", 40)) + "\n")
    return {"data.train.paths": f"['{folder / 'stories.txt'}']"}


def _reviews(folder: Path) -> dict[str, str]:
    with (folder / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *reviews(60)])
    return {"data.train.path": str(folder / "reviews.csv")}


def _rated(folder: Path) -> dict[str, str]:
    return {"data.train.path": write_rated(folder / "rated.csv", 60)}


def _tagged(folder: Path) -> dict[str, str]:
    return {"data.train.path": write_tagged(folder / "tagged.conll", 60)}


def _questions(folder: Path) -> dict[str, str]:
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked(60)))
    return {"data.train.path": str(folder / "questions.jsonl")}


def _choices(folder: Path) -> dict[str, str]:
    texts = [text for text, _ in reviews(60)]
    rows = [{"context": one, "choices": ["good", "bad"], "label": number % 2} for number, one in enumerate(texts)]
    (folder / "choices.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"data.train.path": str(folder / "choices.jsonl")}


TRANSLATOR = {
    **BODY,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "train.tokens_per_update": 200,
    "validation.bleu_sentences": 2,
}
TASKS = {
    task.name: task
    for task in (
        TinyTask("translate", _pairs, TRANSLATOR),
        TinyTask("language-model", _stories, {**BERT, "train.tokens_per_update": 256, "window": 32}),
        TinyTask("masked-language-model", _stories, {**BERT, "train.tokens_per_update": 256, "sequences.length": 48}),
        TinyTask(
            "elmo",
            _stories,
            {
                **QUICK,
                "model.width": 8,
                "model.cell_width": 12,
                "model.filters": "[[1, 4], [3, 6]]",
                "model.highways": 1,
                "train.tokens_per_update": 128,
                "window": 16,
            },
        ),
        TinyTask("vectors", _stories, {"model.width": 8, "train.steps": 4, "machine.threads": 1}),
        TinyTask("classify", _reviews, TUNED),
        TinyTask("regress", _rated, TUNED),
        TinyTask("tag", _tagged, TUNED),
        TinyTask("answer", _questions, TUNED),
        TinyTask("choose", _choices, TUNED),
    )
}
