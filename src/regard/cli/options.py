"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.config.parsing import parse_integer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no messages.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; unset: one a core.")]
Source = Annotated[str | None, typer.Option(help="File with one source sentence a line (.gz too).")]
Target = Annotated[str | None, typer.Option(help="File with the translations, line by line.")]
Data = Annotated[
    str | None,
    typer.Option(
        help="A .tsv, .csv or .jsonl of pairs, labels or words, a .conll, SQuAD's .json (.gz too), or hf:NAME."
    ),
]
ValidSource = Annotated[str | None, typer.Option(help="Validation source; unset: held out of the training data.")]
ValidTarget = Annotated[str | None, typer.Option(help="Validation target.")]
ValidData = Annotated[str | None, typer.Option(help="Validation pairs, in the forms of --data.")]
SourceColumn = Annotated[
    str | None, typer.Option(help="For --data: column (name, or number from 0) or JSON field of the source.")
]
TargetColumn = Annotated[str | None, typer.Option(help="For --data: that of the target.")]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="Running text: a file, a folder (.txt, .md, .jsonl, each .gz too), a column of a .csv or .tsv "
        "(data.train.field), or hf:NAME; may be repeated."
    ),
]
ValidText = Annotated[list[str] | None, typer.Option(help="Validation text; unset: held out of the training text.")]
InitFrom = Annotated[
    str | None,
    typer.Option(help="Begin with this: a run or checkpoint, hf:DIR, or a file of word vectors."),
]
TextColumn = Annotated[
    list[str] | None,
    typer.Option(help="To label or rate: column (name, or number from 0) or JSON field of the text; twice: pairs."),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(help="Column of a table (name, or number from 0) with the text; twice: pairs."),
]
TextFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Take the lines of this file, or the rows of a .csv, .tsv, .jsonl or .json."),
]
TableOut = Annotated[
    Path | None, typer.Option(help="Write the table here (.csv, .tsv or .jsonl); unset: to standard output.")
]
LabelColumn = Annotated[str | None, typer.Option(help="To fine-tune: that of the label, number, tag or answer.")]
Preset = Annotated[str | None, typer.Option(help="The model (see `regard presets`).")]
LARGEST_SEED = 2**32 - 1
Seed = Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED, help="Every random choice follows from it.")]
BeamSize = Annotated[
    int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy. Unset: the run's own setting.")
]
DRAWING, CONSTRAINTS = "Drawing", "Constraints"
TopK = Annotated[int | None, typer.Option(rich_help_panel=DRAWING, help="Draw among so many most probable tokens.")]
TopP = Annotated[
    float | None, typer.Option(rich_help_panel=DRAWING, help="Draw among the tokens that hold this probability.")
]
NoRepeatNgram = Annotated[
    int | None, typer.Option(rich_help_panel=CONSTRAINTS, help="Say no sequence of so many tokens twice.")
]
Iterations = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel="For mask-predict models",
        help="Times a mask-predict model goes over the whole output. Unset: the run's own setting.",
    ),
]
Ensemble = Annotated[
    list[str] | None, typer.Option(help="Another run to decide with, by the mean of probabilities; may be repeated.")
]
Precision = Annotated[str, typer.Option(help="Arithmetic: fp32, or bf16 (a GPU's fast one, almost the same text).")]
Quantize = Annotated[
    str, typer.Option(help="For language models on a CPU: none, or int8 (faster; what it costs is printed).")
]
Pooling = Annotated[
    str | None,
    typer.Option(help="A text's vector: cls (its first token), mean or max of all; unset: the model's own, or mean."),
]
Layer = Annotated[int, typer.Option(help="Which layer: 0 the embeddings, 1 the first block, -1 the last.")]
Run = Annotated[
    str, typer.Argument(metavar="RUN", help="The folder of a run or of one checkpoint, or hf:DIR (Hugging Face).")
]
SettingWords = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change, such as train.steps=1000.")
]

RUN_FLAGS = {
    "source": "data.train.source",
    "target": "data.train.target",
    "data": "data.train.path",
    "valid_source": "data.valid.source",
    "valid_target": "data.valid.target",
    "valid_data": "data.valid.path",
    "text": "data.train.paths",
    "valid_text": "data.valid.paths",
    "init_from": "init_from",
    "preset": "model.preset",
    "seed": "seed",
    "device": "machine.device",
    "threads": "machine.threads",
}
"""The settings that verbs about runs also take as flags."""


def label_columns(flags: dict[str, Any], prefix: str = "") -> dict[str, str | int]:
    """Return the columns of texts and labels that a user named as settings."""
    from regard.errors import ConfigError

    names, words = [f"{prefix}text_column", f"{prefix}second_column"], flags.get("text_column") or []
    if len(words) > len(names):
        raise ConfigError(f"--text-column {words[-1]}: an example has one text or two; leave this one out.")
    found = {key: column(word) for key, word in zip(names, words)}
    label = flags.get("label_column")
    return found if label is None else found | {f"{prefix}label_column": column(label)}


def columns(source: str | None, target: str | None, prefix: str = "") -> dict[str, str | int]:
    """Return the columns a user named as settings."""
    given = {f"{prefix}source_column": source, f"{prefix}target_column": target}
    return {key: column(value) for key, value in given.items() if value is not None}


def column(word: str) -> str | int:
    """Return what a user calls a column: digits are a number, anything else a name."""
    number = parse_integer(word)
    return word if number is None or not word[0].isdigit() else number


def _parted(words: list[str], flags: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return settings, and files that stand behind --text: a shell makes `--text *.txt` several words."""
    if not flags.get("text") or flags.get("valid_text"):
        return words, []
    files = [word for word in words if "=" not in word and Path(word).exists()]
    return [word for word in words if word not in files], files


def run_overrides(words: list[str], flags: dict[str, Any]) -> dict[str, Any]:
    """Return the settings a user gave for a run, by dotted name: flags as verbs call them, then key=value words."""
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten

    found = {name: flags[flag] for flag, name in RUN_FLAGS.items() if flags.get(flag) is not None}
    words, files = _parted(words, flags)
    if files:
        found[RUN_FLAGS["text"]] = [*flags["text"], *files]
    for role in ("train", "valid") if flags["valid_data"] else ("train",):
        found |= columns(flags["source_column"], flags["target_column"], f"data.{role}.")
        found |= label_columns(flags, f"data.{role}.")
    return found | dict(flatten(parse_overrides(words)))
