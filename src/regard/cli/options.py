"""Options shared by several verbs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.config.parsing import parse_integer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Suppress progress and messages.")]
Device = Annotated[str | None, typer.Option(help="Device: auto, cpu, cuda, cuda:N or mps (default: auto).")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads (default: one per core).")]
Source = Annotated[str | None, typer.Option(help="Source sentences, one per line (.gz too).")]
Target = Annotated[str | None, typer.Option(help="Target sentences, aligned with --source line by line (.gz too).")]
Data = Annotated[
    str | None,
    typer.Option(
        help="Training data: a .tsv, .csv or .jsonl of pairs, labeled texts or tagged words, a .conll, a SQuAD .json "
        "(each .gz too), or hf:NAME (a Hugging Face dataset)."
    ),
]
ValidSource = Annotated[
    str | None, typer.Option(help="Validation source sentences (default: held out from the training data).")
]
ValidTarget = Annotated[str | None, typer.Option(help="Validation target sentences, aligned with --valid-source.")]
ValidData = Annotated[
    str | None,
    typer.Option(help="Validation data, in the formats of --data (default: held out from the training data)."),
]
SourceColumn = Annotated[
    str | None, typer.Option(help="Source column of --data: its name, index from 0, or JSON field.")
]
TargetColumn = Annotated[
    str | None, typer.Option(help="Target column of --data: its name, index from 0, or JSON field.")
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="Raw text: a file or folder (.txt, .md, .jsonl, each .gz too), a .csv or .tsv (data.train.field names "
        "the column), or hf:NAME; repeatable."
    ),
]
ValidText = Annotated[
    list[str] | None, typer.Option(help="Validation text (default: held out from the training text); repeatable.")
]
InitFrom = Annotated[
    str | None,
    typer.Option(
        help="Pretrained model to initialize from: a run, a checkpoint, hf:DIR (a Hugging Face folder), or a file of "
        "word vectors."
    ),
]
TextColumn = Annotated[
    list[str] | None,
    typer.Option(help="Text column of labeled data: its name, index from 0, or JSON field; twice for text pairs."),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(help="Text column of an input table: its name, or index from 0; twice for text pairs."),
]
TextFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Input file: lines of text, or a .csv, .tsv, .jsonl or .json table."),
]
TableOut = Annotated[Path | None, typer.Option(help="Output table: .csv, .tsv or .jsonl (default: standard output).")]
LabelColumn = Annotated[
    str | None,
    typer.Option(help="Column of the label, number, tag or answer: its name, index from 0, or JSON field."),
]
Preset = Annotated[str | None, typer.Option(help="Model preset (see `regard presets`).")]
LARGEST_SEED = 2**32 - 1
Seed = Annotated[
    int | None, typer.Option(min=0, max=LARGEST_SEED, help="Random seed: initialization, data order, dropout.")
]
BeamSize = Annotated[
    int | None, typer.Option(min=1, help="Beam size; 1 is greedy decoding (default: the run's setting).")
]
SAMPLING, CONSTRAINTS = "Sampling", "Constraints"
TopK = Annotated[
    int | None, typer.Option(rich_help_panel=SAMPLING, help="Sample from the k most probable tokens (top-k).")
]
TopP = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=SAMPLING,
        help="Sample from the smallest set of tokens with this cumulative probability (top-p, nucleus sampling).",
    ),
]
NoRepeatNgram = Annotated[
    int | None,
    typer.Option(rich_help_panel=CONSTRAINTS, help="Block repeated n-grams of this many tokens (0: no blocking)."),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel="Mask-predict models",
        help="Decoding iterations over the whole output (default: the run's setting).",
    ),
]
Ensemble = Annotated[
    list[str] | None,
    typer.Option(help="Run to ensemble with, by the mean of token probabilities; repeatable."),
]
Precision = Annotated[str, typer.Option(help="Arithmetic: fp32, or bf16 (faster on a GPU, nearly identical output).")]
Quantize = Annotated[
    str,
    typer.Option(
        help="Weights of a language model on a CPU: none, or int8 (faster; its perplexity cost is printed)."
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Pooling of token vectors: cls (the first token), mean or max (default: the model's own, else mean)."
    ),
]
Layer = Annotated[
    int, typer.Option(help="Layer index: 0 for the embeddings, 1 for the first block, -1 for the last.")
]
Run = Annotated[
    str, typer.Argument(metavar="RUN", help="Folder of a run or checkpoint, or hf:DIR (a Hugging Face folder).")
]
SettingWords = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to override, such as train.steps=1000.")
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
"""Settings of a run that have a flag of their own."""


def label_columns(flags: dict[str, Any], prefix: str = "") -> dict[str, str | int]:
    """Return --text-column and --label-column as settings."""
    from regard.errors import ConfigError

    names, words = [f"{prefix}text_column", f"{prefix}second_column"], flags.get("text_column") or []
    if len(words) > len(names):
        raise ConfigError(f"--text-column {words[-1]}: an example has one or two texts; leave this one out.")
    texts = {key: column(word) for key, word in zip(names, words)}
    label = flags.get("label_column")
    return texts if label is None else texts | {f"{prefix}label_column": column(label)}


def columns(source: str | None, target: str | None, prefix: str = "") -> dict[str, str | int]:
    """Return --source-column and --target-column as settings."""
    given = {f"{prefix}source_column": source, f"{prefix}target_column": target}
    return {key: column(value) for key, value in given.items() if value is not None}


def column(word: str) -> str | int:
    """Return a column given by a user: an index if it is digits, else a name."""
    number = parse_integer(word)
    return word if number is None or not word[0].isdigit() else number


def _split_files(words: list[str], flags: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the settings, and the further files of a shell-expanded `--text *.txt`."""
    if not flags.get("text") or flags.get("valid_text"):
        return words, []
    files = [word for word in words if "=" not in word and Path(word).exists()]
    return [word for word in words if word not in files], files


def run_overrides(words: list[str], flags: dict[str, Any]) -> dict[str, Any]:
    """Return the overrides of a run by dotted name: from flags, then from key=value words."""
    from regard.config.overrides import parse_overrides
    from regard.config.settings import flatten

    overrides = {name: flags[flag] for flag, name in RUN_FLAGS.items() if flags.get(flag) is not None}
    words, files = _split_files(words, flags)
    if files:
        overrides[RUN_FLAGS["text"]] = [*flags["text"], *files]
    for role in ("train", "valid") if flags["valid_data"] else ("train",):
        overrides |= columns(flags["source_column"], flags["target_column"], f"data.{role}.")
        overrides |= label_columns(flags, f"data.{role}.")
    return overrides | dict(flatten(parse_overrides(words)))
