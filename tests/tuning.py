"""Examples for every fine-tuning task that a small encoder learns in seconds."""

import csv
import json
import random
from pathlib import Path

SMALL_BERT = {
    "width": 32,
    "heads": 4,
    "feed_forward_width": 64,
    "layers": 2,
    "max_positions": 64,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "embedding_dropout": 0.0,
}
BERT = {
    "model.preset": "bert-tiny",
    **{f"model.{name}": value for name, value in SMALL_BERT.items()},
    "text.size": 300,
    "train.steps": 120,
    "train.warmup": 10,
    "train.examples_per_update": 32,
    "train.validate_every": 60,
    "train.learning_rate": 3e-3,
}
"""Settings that make a task's default run take seconds, with an encoder from scratch."""

NAMES, TOWNS = ("anna", "ben", "carla", "dora"), ("rome", "paris", "oslo", "kiel")
THINGS = ("key", "hat", "book", "cup", "bag")


def tagged(count: int, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Return sentences with people and places, of one word or two."""
    draw = random.Random(seed)
    sentences = []
    for _ in range(count):
        name = [(draw.choice(NAMES), "B-PER"), *([("smith", "I-PER")] if draw.random() < 0.5 else [])]
        town = [*([("new", "B-LOC")] if draw.random() < 0.3 else []), (draw.choice(TOWNS), "B-LOC")]
        town = [(word, "I-LOC" if position else "B-LOC") for position, (word, _) in enumerate(town)]
        verb = (draw.choice(("sees", "likes", "leaves")), "O")
        end = (draw.choice((".", "!", "today")), "O")
        sentences.append(
            [*name, verb, *town, end] if draw.random() < 0.7 else [("the", "O"), *town, verb, *name, end]
        )
    return sentences


def write_tagged(path: Path, count: int = 200, seed: int = 0) -> str:
    text = "\n".join("".join(f"{word}\t{tag}\n" for word, tag in sentence) for sentence in tagged(count, seed))
    path.write_text(text)
    return str(path)


def write_rated(path: Path, count: int = 240, seed: int = 0, alike: bool = False) -> str:
    """Write pairs of texts, and 100 plus 10 for each key in the second; or 110 for pairs about the same, else 100."""
    draw = random.Random(seed)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("sentence1", "sentence2", "score"))
        for _ in range(count):
            one, other = draw.choices(THINGS[:3], k=3), draw.choices(THINGS[:3], k=2)
            score = 100 + 10 * sum(word == "key" for word in other)
            if alike:
                one, other = ([draw.choice(kind)] * 2 for kind in draw.choices((THINGS[:2], THINGS[2:4]), k=2))
                score = 110 if (one[0] in THINGS[:2]) == (other[0] in THINGS[:2]) else 100
            rows.writerow((" ".join(one), " ".join(other), score))
    return str(path)


def asked(count: int, seed: int = 0, silent: float = 0.0) -> list[dict]:
    """Return questions about who has what where; a fraction `silent` of them is unanswerable."""
    draw = random.Random(seed)
    questions = []
    for number in range(count):
        parts = {"who": draw.choice(NAMES), "what": f"{draw.choice(THINGS)} of {draw.choice(THINGS)}"}
        parts["where"] = draw.choice(TOWNS)
        stated = {
            "who": f"a friend called {parts['who']}",
            "what": f"has the {parts['what']}",
            "where": f"here in {parts['where']}",
        }
        wanted = draw.choice(list(parts))
        if not (has_answer := draw.random() >= silent):
            del stated[wanted]
        clauses = list(stated.values())
        draw.shuffle(clauses)
        context = " , ".join(clauses) + " ."
        answer = {"text": parts[wanted], "answer_start": context.find(parts[wanted])}
        questions.append(
            {
                "id": str(number),
                "question": f"{wanted} is it ?",
                "context": context,
                "answers": [answer] if has_answer else [],
            }
        )
    return questions


def write_questions(path: Path, count: int = 400, seed: int = 0, silent: float = 0.0) -> str:
    """Write questions as SQuAD does."""
    paragraphs = []
    for each in asked(count, seed, silent):
        question = {name: each[name] for name in ("id", "question", "answers")}
        paragraphs.append({"context": each["context"], "qas": [question | {"is_impossible": not each["answers"]}]})
    path.write_text(json.dumps({"version": "v2.0", "data": [{"title": "t", "paragraphs": paragraphs}]}))
    return str(path)


def write_choices(path: Path, count: int = 300, seed: int = 0) -> str:
    """Write contexts, each with a continuation and the same words in reverse."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        right = f"has the {draw.choice(THINGS)} of {draw.choice(NAMES)}"
        choices = [right, " ".join(reversed(right.split()))]
        draw.shuffle(choices)
        context = f"a friend called {draw.choice(NAMES)} of {draw.choice(TOWNS)}"
        rows.append({"context": context, "choices": choices, "label": choices.index(right)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)
