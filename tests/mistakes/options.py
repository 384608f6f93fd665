"""Values that no option takes, for every number that any verb can be given."""

from collections.abc import Iterator
from typing import Any

import typer

from mistakes.table import OWN_TASK, VERBS_OF_RUNS, Mistake
from regard.cli.main import app

NO_INTEGER = {"a word": "x", "a fraction": "1.5", "a small two": "²", "nothing": ""}
NO_NUMBER = {"a word": "x", "nan": "nan", "inf": "inf", "minus inf": "-inf", "a small two": "²", "nothing": ""}

VALUES = {int: NO_INTEGER, float: NO_NUMBER}

WORDS: dict[str, tuple[str, ...]] = {
    "train": ("train", "translate", "--source", "{good}/lines.txt", "--target", "{good}/lines.txt"),
    "plan": ("plan", "translate", "--data", "{good}/translate.tsv", "--device", "h200"),
    "doctor": ("doctor", "translate", "--data", "{good}/translate.tsv", "--quick"),
    "race": ("race", "race-miniature", "--out", "new"),
    "transfer": ("transfer", "--data", "{good}/classify.jsonl", "--methods", "scratch", "--out", "new"),
    "verify-resume": ("verify-resume", "translate", "--data", "{good}/translate.tsv"),
    "features": ("features", "{runs}/masked-language-model", "--data", "{good}/tag.jsonl"),
    "bleu": ("bleu", "{good}/lines.txt", "{good}/lines.txt"),
    "tokenizer train": ("tokenizer", "train", "{good}/lines.txt", "--out", "new.json"),
    "data miniature": ("data", "miniature"),
    "vectors neighbors": ("vectors", "neighbors", "{runs}/vectors", "the"),
    "vectors analogy": ("vectors", "analogy", "{runs}/vectors", "the", "dog", "the"),
    "vectors map": ("vectors", "map", "{runs}/vectors", "--out", "new"),
    **{
        verb: tuple(word.replace("{run}", f"{{runs}}/{OWN_TASK.get(verb, 'translate')}") for word in words)
        for verb, words in VERBS_OF_RUNS.items()
        if words[0] == verb
    },
}
"""A command line for each verb that would be in order."""


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for each, deeper in inner.items():
        yield from _commands(deeper, f"{name} {each}".strip())


def _type_of(option: Any) -> type | None:
    """Return what an option takes; typer with a click of its own keeps it elsewhere than plain click."""
    if hasattr(option, "type_descriptor"):
        return option.type_descriptor.annotation
    return {"integer": int, "float": float}.get(option.type.name.split()[0])


def of_options() -> Iterator[Mistake]:
    """Yield a row for each numeric option of each verb and each value that is no such number."""
    for verb, command in _commands(typer.main.get_command(app)):
        for option in command.params:
            kind = _type_of(option)
            if kind not in VALUES or not option.opts[0].startswith("--") or verb not in WORDS:
                continue
            for title, value in VALUES[kind].items():
                yield Mistake(f"{verb} {option.opts[0]}: {title}", (*WORDS[verb], f"{option.opts[0]}={value}"))
