"""`regard tokenizer`: training one, and seeing what one does."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet
from regard.cli.verb import Verbs

app = Verbs(help="Train tokenizers and look at them.", no_args_is_help=True)


@app.command("train")
def train(
    files: Annotated[list[Path], typer.Argument(help="Text files (.gz too).")],
    kind: Annotated[str, typer.Option(help="bpe, wordpiece, unigram, word or char.")] = "bpe",
    size: Annotated[int, typer.Option(help="Largest number of tokens.")] = 8000,
    pretokenizer: Annotated[
        str, typer.Option(help="For bpe: metaspace, or byte-level (any text comes back exactly).")
    ] = "metaspace",
    lowercase: Annotated[bool, typer.Option(help="Fold capital letters.")] = False,
    special_tokens: Annotated[
        str, typer.Option(help="plain (<pad>, <s>, ...), or bert ([PAD], [CLS], [MASK], ... for masked words).")
    ] = "plain",
    min_frequency: Annotated[int, typer.Option(help="Occurrences it takes to enter the vocabulary.")] = 2,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("tokenizer.json"),
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a tokenizer on text files."""
    from regard.cli.console import print_json, print_line, progress
    from regard.config.resolve import Layer, resolve
    from regard.data.sources.lines import read_lines
    from regard.errors import ConfigError
    from regard.text.settings import TokenizerSettings
    from regard.text.training import train_tokenizer

    given = {
        "kind": kind,
        "size": size,
        "pretokenizer": pretokenizer,
        "lowercase": lowercase,
        "special_tokens": special_tokens,
        "min_frequency": min_frequency,
    }
    if out.is_file() and not overwrite:
        raise ConfigError(f"{out}: this exists already; choose another file with --out, or say --overwrite.")
    settings = resolve(TokenizerSettings, [Layer("the command line", given)]).settings
    lines = [line for file in files for line in read_lines(file)]
    tokenizer = train_tokenizer(lines, settings, progress(quiet))
    out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out)
    words = sum(len(line.split()) for line in lines)
    encoded = tokenizer.encode_batch(lines)
    pieces = sum(map(len, encoded))
    unknown = sum(ids.count(tokenizer.unk_id) for ids in encoded)
    if json:
        print_json({"path": out, "size": tokenizer.size, "pieces_per_word": pieces / words, "unknown": unknown})
        return
    print_line(f"{out}: {tokenizer.size:,} tokens, {pieces / words:.2f} pieces a word, {unknown:,} unknown pieces.")
    print_line(f'See what it does: regard tokenizer show {out} "some text"')


@app.command("show")
def show(
    tokenizer: Annotated[Path, typer.Argument(help="A tokenizer.json, or a run.")],
    text: Annotated[str, typer.Argument(help="The text to split.")],
    side: Annotated[str, typer.Option(help="Which tokenizer of a run with two: source or target.")] = "source",
    json: Json = False,
) -> None:
    """Show the pieces of a text, their ids, and where each lies in it."""
    from regard.cli.console import print_json, print_line, print_table
    from regard.tasks.load import load_tokenizer

    found = load_tokenizer(tokenizer, side)
    encoding = found.encode(text)
    decoded = found.decode(encoding.ids)
    if json:
        print_json({"text": text, "decoded": decoded, **vars(encoding)})
        return
    rows = [
        (piece, str(number), f"{start}-{end}", repr(text[start:end]))
        for piece, number, (start, end) in zip(encoding.tokens, encoding.ids, encoding.offsets, strict=True)
    ]
    print_table(("piece", "id", "offsets", "text"), rows, right=[1])
    print_line(f"decoded: {decoded}")
