"""`regard tokenizer`: training tokenizers, and showing their tokens."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import progress
from regard.cli.console import show as show_values
from regard.cli.options import NOTHING, Given, Json, Overwrite, Quiet, flags_of, options
from regard.cli.verb import Verbs
from regard.text.settings import TokenizerOutput, TokenizerSettings, TokenizerSide

app = Verbs(help="Train a tokenizer, or show how it splits a text.", no_args_is_help=True)


@app.command("train")
@options(*flags_of(TokenizerSettings, shows_defaults=True), *flags_of(TokenizerOutput, shows_defaults=True))
def train(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Text files (.gz too).")],
    given: Given = NOTHING,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a tokenizer on text files."""
    from regard.data.sources.lines import read_lines
    from regard.errors import ConfigError
    from regard.text.training import train_tokenizer

    out = given.settings(TokenizerOutput).out
    if out.is_file() and not overwrite:
        raise ConfigError(f"{out}: the file exists; choose another with --out, or give --overwrite.")
    settings = given.settings(TokenizerSettings)
    lines = [line for file in files for line in read_lines(file)]
    tokenizer = train_tokenizer(lines, settings, progress(quiet))
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out)
    words = sum(len(line.split()) for line in lines)
    encoded = tokenizer.encode_batch(lines)
    tokens = sum(map(len, encoded))
    unknown = sum(ids.count(tokenizer.unk_id) for ids in encoded)
    plain = {"path": out, "size": tokenizer.size, "tokens_per_word": tokens / words, "unknown": unknown}
    line = f"vocabulary of {tokenizer.size:,} tokens, {tokens / words:.2f} tokens per word, {unknown:,} unknown."
    show_values(json, plain, f"{out}: {line}", f'Try it: regard tokenizer show {out} "some text"')


@app.command("show")
@options(*flags_of(TokenizerSide, shows_defaults=True))
def show(
    tokenizer: Annotated[Path, typer.Argument(metavar="TOKENIZER", help="A tokenizer.json, or a run.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text to tokenize.")],
    given: Given = NOTHING,
    json: Json = False,
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
    show_values(json, {"text": text, "decoded": decoded, **vars(encoding)}, table, f"decoded: {decoded}")
