"""`regard tokenizer`: training tokenizers, and showing their tokens."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import JSON, OVERWRITE, QUIET, Given, options
from regard.cli.verb import Verbs
from regard.text.settings import TokenizerOutput, TokenizerSettings, TokenizerSide

app = Verbs(help="Train a tokenizer, or show how it splits a text.", no_args_is_help=True)


@app.command("train")
@options(OVERWRITE, QUIET, JSON, TokenizerSettings, TokenizerOutput)
def train(
    given: Given,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Text files (.gz too).")],
) -> None:
    """Train a tokenizer on text files."""
    from regard.data.sources.lines import read_lines
    from regard.errors import ConfigError
    from regard.text.training import train_tokenizer

    out = given.settings(TokenizerOutput).out
    if out.is_file() and not given["overwrite"]:
        raise ConfigError(f"{out}: the file exists; choose another with --out, or give --overwrite.")
    settings = given.settings(TokenizerSettings)
    lines = [line for file in files for line in read_lines(file)]
    tokenizer = train_tokenizer(lines, settings, given.progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out)
    coverage = tokenizer.coverage(lines)
    given.show(
        {"path": out} | vars(coverage), f"{out}: {coverage}", f'Try it: regard tokenizer show {out} "some text"'
    )


@app.command("show")
@options(JSON, TokenizerSide)
def show(
    given: Given,
    tokenizer: Annotated[Path, typer.Argument(metavar="TOKENIZER", help="A tokenizer.json, or a run.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text to tokenize.")],
) -> None:
    """Show the tokens of a text, their ids and character offsets."""
    from regard.tasks.load import load_tokenizer

    loaded = load_tokenizer(tokenizer, given.settings(TokenizerSide).side)
    encoding = loaded.encode(text)
    decoded = loaded.decode(encoding.ids)
    rows = [
        (token, str(number), f"{start}-{end}", repr(text[start:end]))
        for token, number, (start, end) in zip(encoding.tokens, encoding.ids, encoding.offsets, strict=True)
    ]
    table = (("token", "id", "offsets", "text"), rows, [1])
    given.show({"text": text, "decoded": decoded, **vars(encoding)}, table, f"decoded: {decoded}")
