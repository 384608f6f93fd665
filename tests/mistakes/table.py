"""The table of mistakes, generated: verb × kind of input × fault.

A row is a command line whose words may hold {bad}, the file with the fault; {runs}, the folder with a run of each
task; and {good}, a folder with files that are in order.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from every_task import TASKS
from labeled import reviews
from mistakes.faults import ANY_FILE, JSON_LINES, NO_CONTENT, TABLE, Maker, odd_fields

TUNING = ("classify", "regress", "tag", "answer", "choose")
TEXTS = ("language-model", "masked-language-model", "elmo", "vectors")


@dataclass(frozen=True)
class Mistake:
    """A command line with one thing wrong."""

    name: str
    words: tuple[str, ...]
    fault: Maker | None = None
    file: str = "bad.txt"
    """What the bad file is called."""
    content: bytes = b""
    """What a good one would hold."""
    stdin: bytes = b""
    run: str = ""
    """The task whose run is copied to be damaged."""
    damage: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class FileKind:
    """A kind of file: what a good one is called and holds, and what can be wrong with it."""

    file: str
    content: bytes
    faults: dict[str, Maker]


def _lines(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def objects(*rows: dict) -> bytes:
    return _lines(*map(json.dumps, rows))


SENTENCES = _lines(*(f"The small dog number {number} sleeps in the garden." for number in range(40)))
STORIES = SENTENCES.replace(b"\n", b"\n\n")
REVIEWS = [{"text": text, "label": label} for text, label in reviews(40)]
RATED = [{"text": text, "score": float(number)} for number, (text, _) in enumerate(reviews(40))]
PAIRS = [{"source": f"eins {number}", "target": f"one {number}"} for number in range(40)]
QUESTIONS = [
    {
        "id": str(n),
        "question": "who is it ?",
        "context": f"it is anna {n} .",
        "answers": [{"text": "anna", "answer_start": 6}],
    }
    for n in range(40)
]
CHOICES = [{"context": f"number {n} is", "choices": ["good", "bad"], "label": n % 2} for n in range(40)]
TAGGED = [{"tokens": ["anna", "sleeps", str(n)], "tags": ["B-PER", "O", "O"]} for n in range(40)]
CONLL = _lines(*(f"anna\tB-PER\nsleeps\tO\n{number}\tO\n" for number in range(40)))


def table(rows: list[dict]) -> bytes:
    return _lines(",".join(rows[0]), *(",".join(f'"{value}"' for value in row.values()) for row in rows))


TEXT = FileKind("bad.txt", STORIES, ANY_FILE | NO_CONTENT)
LINES = FileKind("bad.txt", SENTENCES, ANY_FILE)
TRAINING: dict[str, list[FileKind]] = {
    "translate": [
        FileKind("bad.tsv", _lines(*(f"{row['source']}\t{row['target']}" for row in PAIRS)), ANY_FILE | NO_CONTENT),
        FileKind("bad.csv", table(PAIRS), ANY_FILE | NO_CONTENT | TABLE),
        FileKind("bad.jsonl", objects(*PAIRS), ANY_FILE | NO_CONTENT | JSON_LINES | odd_fields("source", "target")),
        FileKind("bad.json", objects(*PAIRS), {"any": lambda path, good: path.write_bytes(good) and None}),
        FileKind("bad.xyz", objects(*PAIRS), {"ending": lambda path, good: path.write_bytes(good) and None}),
    ],
    "classify": [
        FileKind("bad.csv", table(REVIEWS), ANY_FILE | NO_CONTENT | TABLE),
        FileKind(
            "bad.jsonl",
            objects(*REVIEWS),
            ANY_FILE
            | NO_CONTENT
            | JSON_LINES
            | odd_fields("text")
            | odd_fields("label", leave_out=("a number", "null")),
        ),
        FileKind("bad.xyz", objects(*REVIEWS), {"ending": lambda path, good: path.write_bytes(good) and None}),
    ],
    "regress": [
        FileKind("bad.csv", table(RATED), ANY_FILE | NO_CONTENT | TABLE),
        FileKind(
            "bad.jsonl",
            objects(*RATED),
            JSON_LINES | odd_fields("text") | odd_fields("score", leave_out=("a number", "null")),
        ),
    ],
    "tag": [
        FileKind("bad.conll", CONLL, ANY_FILE | NO_CONTENT),
        FileKind("bad.jsonl", objects(*TAGGED), JSON_LINES | odd_fields("tokens", "tags", leave_out=("a list",))),
    ],
    "answer": [
        FileKind(
            "bad.jsonl",
            objects(*QUESTIONS),
            ANY_FILE
            | NO_CONTENT
            | JSON_LINES
            | odd_fields("question", "context")
            | odd_fields("answers", leave_out=("null", "a list", "half a character")),
        ),
        FileKind("bad.json", json.dumps({"data": [{"paragraphs": []}]}).encode(), ANY_FILE | NO_CONTENT),
    ],
    "choose": [
        FileKind(
            "bad.jsonl",
            objects(*CHOICES),
            ANY_FILE
            | NO_CONTENT
            | JSON_LINES
            | odd_fields("context", "choices")
            | odd_fields("label", leave_out=("null",)),
        ),
    ],
    **{
        task: [
            TEXT,
            FileKind(
                "bad.jsonl",
                objects(*({"text": row["text"]} for row in REVIEWS)),
                JSON_LINES | odd_fields("text"),
            ),
        ]
        for task in TEXTS
    },
}
"""What each task learns from, and what can be wrong with it."""


def _settings(task: str) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in TASKS[task].settings.items())


def _with_files() -> Iterator[tuple[str, tuple[str, ...], FileKind]]:
    """Yield (name, words, kind) for every place of a command line where a file stands."""
    for task, kinds in TRAINING.items():
        flag = "--text" if task in TEXTS else "--data"
        for kind in kinds:
            what = f"{task} {kind.file.rpartition('.')[2]}"
            yield f"train {what}", ("train", task, flag, "{bad}", *_settings(task), "-q"), kind
            if task != "vectors":
                again = ("--valid-text",) if task in TEXTS else ("--valid-data",)
                good = TASKS[task].name
                yield (
                    f"valid {what}",
                    ("train", task, *_good_flags(good), *again, "{bad}", *_settings(task), "-q"),
                    kind,
                )
    pairs = FileKind("bad.de", SENTENCES, ANY_FILE | NO_CONTENT)
    train = ("train", "translate", *_settings("translate"), "-q")
    yield "train source", (*train, "--source", "{bad}", "--target", "{good}/lines.txt"), pairs
    yield "train target", (*train, "--source", "{good}/lines.txt", "--target", "{bad}"), pairs
    for verb, run in (("translate", "translate"), ("generate", "language-model"), ("embed", "masked-language-model")):
        yield f"{verb} file", (verb, f"{{runs}}/{run}", "--file", "{bad}", "-q"), LINES
    for verb in ("classify", "tag"):
        yield f"{verb} file", (verb, f"{{runs}}/{verb}", "--file", "{bad}", "-q"), LINES
        faults = ANY_FILE | {name: fault for name, fault in TABLE.items() if name != "header alone"}
        words = (verb, f"{{runs}}/{verb}", "--file", "{bad}", "-q", "--text-column", "text")
        yield f"{verb} table", words, FileKind("bad.csv", table(REVIEWS), faults)
    for verb, rows in (("answer", QUESTIONS), ("choose", CHOICES)):
        yield (
            f"{verb} file",
            (verb, f"{{runs}}/{verb}", "--file", "{bad}", "-q"),
            FileKind("bad.jsonl", objects(*rows), ANY_FILE | JSON_LINES),
        )
    for task in TUNING:
        kind = TRAINING[task][0]
        yield f"evaluate {task}", ("evaluate", f"{{runs}}/{task}", "--data", "{bad}", "-q"), kind
    for task in ("language-model", "masked-language-model", "elmo"):
        yield f"evaluate {task}", ("evaluate", f"{{runs}}/{task}", "--text", "{bad}", "-q"), TEXT
    evaluate = ("evaluate", "{runs}/translate", "-q")
    yield "evaluate source", (*evaluate, "--source", "{bad}", "--target", "{good}/lines.txt"), pairs
    yield "evaluate target", (*evaluate, "--source", "{good}/lines.txt", "--target", "{bad}"), pairs
    yield "score source", ("score", "{runs}/translate", "{bad}", "{good}/lines.txt", "-q"), LINES
    yield "score text", ("score", "{runs}/language-model", "{bad}", "-q"), LINES
    yield "bleu hypothesis", ("bleu", "{bad}", "{good}/lines.txt"), LINES
    yield "bleu reference", ("bleu", "{good}/lines.txt", "{bad}"), LINES
    yield "tokenizer train", ("tokenizer", "train", "{bad}", "--size", "300", "--out", "new.json", "-q"), pairs
    yield "neighbors file", ("vectors", "neighbors", "{runs}/vectors", "--file", "{bad}", "-q"), LINES
    words = FileKind("bad.txt", _lines("the 0.1 0.2", "dog 0.3 0.4"), ANY_FILE | NO_CONTENT)
    yield "vectors of a file", ("vectors", "neighbors", "{bad}", "the", "-q"), words
    rated = FileKind("bad.txt", _lines("the\tdog\t5"), ANY_FILE | NO_CONTENT)
    yield "similarities", ("vectors", "evaluate", "{runs}/vectors", "--similarities", "{bad}", "-q"), rated
    yield "analogies", ("vectors", "evaluate", "{runs}/vectors", "--analogies", "{bad}", "-q"), rated
    yield (
        "transfer",
        ("transfer", "--data", "{bad}", "--methods", "scratch", "--sizes", "8", "--seeds", "1", "-q", "--out", "new"),
        TRAINING["classify"][0],
    )
    yield "features", ("features", "{runs}/masked-language-model", "--data", "{bad}", "-q"), TRAINING["tag"][0]


def _good_flags(task: str) -> tuple[str, ...]:
    if task in TEXTS:
        return ("--text", "{good}/stories.txt")
    return ("--data", f"{{good}}/{task}{'.tsv' if task == 'translate' else '.jsonl'}")


def good_files() -> dict[str, bytes]:
    """Return files that are in order, by name."""
    return {
        "lines.txt": SENTENCES,
        "stories.txt": STORIES,
        "translate.tsv": TRAINING["translate"][0].content,
        "classify.jsonl": objects(*REVIEWS),
        "regress.jsonl": objects(*RATED),
        "tag.jsonl": objects(*TAGGED),
        "answer.jsonl": objects(*QUESTIONS),
        "choose.jsonl": objects(*CHOICES),
    }


def of_files() -> Iterator[Mistake]:
    """Yield a row for each fault of each file of each verb."""
    for name, words, kind in _with_files():
        for fault, maker in kind.faults.items():
            yield Mistake(f"{name}: {fault}", words, maker, kind.file, kind.content)


def of_standard_input() -> Iterator[Mistake]:
    """Yield rows for lines that come in."""
    verbs = {
        "translate": "translate",
        "generate": "language-model",
        "classify": "classify",
        "tag": "tag",
        "embed": "masked-language-model",
        "fill": "masked-language-model",
    }
    for verb, run in verbs.items():
        words = (verb, f"{{runs}}/{run}", "-q")
        yield Mistake(f"{verb} stdin: not utf-8", words, stdin=b"sch\xf6n\n")
        yield Mistake(f"{verb} stdin: endless line", words, stdin=b"a" * 100_000)


VERBS_OF_RUNS = {
    "translate": ("translate", "{run}", "Ja."),
    "generate": ("generate", "{run}", "The"),
    "classify": ("classify", "{run}", "good"),
    "regress": ("regress", "{run}", "good", "bad"),
    "tag": ("tag", "{run}", "anna"),
    "answer": ("answer", "{run}", "who?", "anna."),
    "choose": ("choose", "{run}", "it", "is", "was"),
    "fill": ("fill", "{run}", "The [MASK] sleeps."),
    "embed": ("embed", "{run}", "good"),
    "similar": ("similar", "{run}", "good", "bad"),
    "inspect": ("inspect", "{run}", "good"),
    "score": ("score", "{run}", "good", "--inline"),
    "neighbors": ("vectors", "neighbors", "{run}", "the"),
    "evaluate": ("evaluate", "{run}"),
    "export": ("export", "{run}", "new"),
    "convert": ("convert", "{run}", "--out", "new"),
    "average": ("average", "{run}", "--out", "new"),
    "resume": ("train", "--resume", "{run}"),
    "card": ("card", "{run}"),
    "delete": ("runs", "delete", "{run}", "--yes"),
}
"""Verbs that take a run, and what they are called with."""

OWN_TASK = {
    "translate": "translate",
    "generate": "language-model",
    "fill": "masked-language-model",
    "embed": "masked-language-model",
    "similar": "masked-language-model",
    "inspect": "language-model",
    "score": "language-model",
    "neighbors": "vectors",
    **{task: task for task in TUNING},
}


def of_other_tasks() -> Iterator[Mistake]:
    """Yield rows for models of another task."""
    for verb, task in OWN_TASK.items():
        for other in TASKS:
            if other != task and (verb, other) not in FINE:
                words = tuple(word.replace("{run}", f"{{runs}}/{other}") for word in VERBS_OF_RUNS[verb])
                yield Mistake(f"{verb}: a model for {other}", words)


BODIES = ("masked-language-model", "elmo", "vectors")
FINE = {
    *(("inspect", task) for task in TASKS),
    *(("embed", task) for task in TASKS),
    *(("similar", task) for task in TASKS),
    ("score", "translate"),
}
"""Verbs that serve models of several tasks."""
