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
    from regard.tasks.text.tokenizer import train_on_files

    out = given.settings(TokenizerOutput).out
    made = train_on_files(files, given.settings(TokenizerSettings), out, bool(given["overwrite"]), given.progress)
    given.show(vars(made), made.summary, f'Try it: regard tokenizer show {out} "some text"')


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
