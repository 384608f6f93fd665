"""`regard similar`: cosine similarity of texts, or of words in context."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Device, Json, Layer, Pooling, Precision, Quiet, Run, Threads, column
from regard.cli.tables import is_table, write_cells


def similar(
    run: Run,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]...", help="Texts (default: standard input, one tab-separated text pair per line)."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Input file: tab-separated text pairs, or a table with two text columns."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="File to search: list its lines nearest to each text or line of --file.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="With --against: nearest lines to list.")] = 5,
    word: Annotated[
        list[str] | None,
        typer.Option(help="Compare the contextual vectors of this word in both texts; twice: one word per text."),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(help="With --word: word vectors (a run, or a file) to compare the contextual vectors with."),
    ] = None,
    pooling: Pooling = None,
    layer: Layer = -1,
    text_column: Annotated[
        list[str] | None,
        typer.Option(help="Text column of an input table: its name, or index from 0; twice for both texts."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output table (default: standard output).")] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare texts by the cosine similarity of their vectors: 1 for the same direction, 0 for orthogonal vectors.

    RUN may also be word vectors (a run, or a word2vec or GloVe file): a text is then the mean of its word vectors.

    Two texts give one number, more texts a matrix, each tab-separated line one number; a table comes back as CSV
    with a column `similarity`.
    """
    flags = dict(locals())
    from regard.cli.console import progress
    from regard.pipelines.word_average import WordAverageEncoder
    from regard.pipelines.word_vectors import load_word_vectors, names_word_vectors
    from regard.tasks.load import load_encoder
    from regard.training.device.machine import use_threads

    _check(flags)
    use_threads(threads)
    encoder = (
        WordAverageEncoder(load_word_vectors(run))
        if names_word_vectors(str(run))
        else load_encoder(run, device or "auto", precision=precision)
    )
    settings = {"pooling": pooling, "layer": layer}
    reporter = progress(quiet)
    if word:
        one, other = _words(texts or [], word)
        static = None if beside is None else load_word_vectors(beside, progress=reporter).similarity(one[1], other[1])
        _print_words(encoder.similar_words(one, other, layer), beside, static, json)
    elif against is not None:
        given = [text for part in chunks(texts, file) for text in part if text.strip()]
        _print_nearest(encoder, given, against, top, settings | {"progress": reporter}, json)
    elif is_table(file):
        _compare_table(encoder, file, text_column or [], settings | {"progress": reporter}, out, json)
    elif texts:
        _print_matrix(texts, encoder.similar(texts, texts, **settings), json)
    else:
        line = 1
        for part in chunks(None, file):
            _print_pairs(encoder, _pairs(part, line), settings | {"progress": reporter}, json)
            sys.stdout.flush()
            line += len(part)


def _check(flags: dict[str, Any]) -> None:
    """Raise for conflicting arguments, before a model is loaded."""
    from regard.errors import ConfigError

    texts, words = flags["texts"] or [], flags["word"] or []
    if texts and flags["file"]:
        raise ConfigError("Give either texts or --file, not both.")
    if words and (len(texts) != 2 or flags["against"]):
        raise ConfigError("--word compares a word in two texts; give two texts after RUN.")
    if len(words) > 2:
        raise ConfigError(f"--word {words[2]}: give at most one word per text; leave this one out.")
    if flags["beside"] and not words:
        raise ConfigError("--beside compares the vectors of a word; name it with --word.")
    if words and flags["pooling"]:
        raise ConfigError("--pooling is for vectors of texts; leave it out with --word.")
    if len(texts) == 1 and not flags["against"]:
        raise ConfigError("There is one text to compare; give two, or a file with --against.")
    if not is_table(flags["file"]) and (flags["text_column"] or flags["out"]):
        raise ConfigError("--text-column and --out are for tables; give one with --file.")
    if is_table(flags["file"]) and flags["against"]:
        raise ConfigError("--against takes texts or lines, not a table; give the texts of the table as lines.")


def _words(texts: list[str], words: list[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    return (texts[0], words[0]), (texts[1], words[-1])


def _print_words(similarity: Any, beside: str | None, static: float | None, json: bool) -> None:
    from regard.cli.console import print_json, print_table

    if json:
        print_json(vars(similarity) if beside is None else vars(similarity) | {"word_vectors": static})
        return
    rows = [("in context", f"{similarity.in_context:.4f}"), ("without context", f"{similarity.without_context:.4f}")]
    if beside is not None:
        rows.append((f"word vectors ({Path(beside).name})", f"{static:.4f}"))
    print_table(("vectors", "cosine"), rows, right=[1])


def _print_matrix(texts: list[str], values: Any, json: bool) -> None:
    from regard.cli.console import print_json, print_line, print_table

    if json:
        print_json({"texts": texts, "similarity": values.tolist()}, indent=None)
    elif len(texts) == 2:
        print_line(f"{values[0, 1]:.4f}")
    else:
        rows = [(text, *(f"{value:.4f}" for value in row)) for text, row in zip(texts, values, strict=True)]
        print_table(("text", *texts), rows, right=range(1, len(texts) + 1))


def _pairs(lines: list[str], first: int) -> list[tuple[str, str] | None]:
    """Return tab-separated lines as text pairs; None: a blank line."""
    from regard.errors import DataError

    pairs: list[tuple[str, str] | None] = []
    for number, line in enumerate(lines, start=first):
        one, tab, other = line.partition("\t")
        if line.strip() and (not tab or "\t" in other):
            raise DataError(f"line {number:,}: this is not a text pair; put one tab between two texts.")
        pairs.append((one, other) if line.strip() else None)
    return pairs


def _print_pairs(encoder: Any, pairs: list[tuple[str, str] | None], settings: dict[str, Any], json: bool) -> None:
    from regard.cli.console import print_json, print_line

    values = iter(_cosines(encoder, [pair for pair in pairs if pair is not None], settings))
    for pair in pairs:
        value = None if pair is None else float(next(values))
        if json:
            print_json(None if pair is None else {"texts": pair, "similarity": value}, indent=None)
        else:
            print_line("" if value is None else f"{value:.4f}")


def _cosines(encoder: Any, pairs: list[tuple[str, str]], settings: dict[str, Any]) -> Any:
    from regard.pipelines.nearest import pair_similarities

    return pair_similarities(encoder, pairs, **settings)


def _print_nearest(
    encoder: Any, texts: list[str], against: Path, top: int, settings: dict[str, Any], json: bool
) -> None:
    from regard.cli.console import print_json, print_line
    from regard.data.sources.lines import read_lines
    from regard.pipelines.nearest import nearest

    others = [line for line in read_lines(against) if line.strip()]
    for text, neighbors in zip(texts, nearest(encoder, texts, others, top, **settings), strict=True):
        if json:
            print_json({"text": text, "nearest": neighbors}, indent=None)
            continue
        for each in neighbors:
            print_line(f"{text}\t{each.similarity:.4f}\t{each.text}")


def _compare_table(
    encoder: Any, file: Path | None, columns: list[str], settings: dict[str, Any], out: Path | None, json: bool
) -> None:
    from regard.cli.tables import write_records
    from regard.pipelines.text_tables import read_text_table

    defaults = getattr(encoder, "columns", {})  # word vectors were not trained on a table
    table = read_text_table(str(file), [column(word) for word in columns], 2, defaults, settings["progress"])
    cosines = iter(_cosines(encoder, [(texts[0], texts[1]) for texts in table.texts if all(texts)], settings))
    values = [float(next(cosines)) if all(texts) else None for texts in table.texts]
    if json:
        write_records(table.records({"similarity": value} for value in values), out)
    else:
        write_cells(table.cells(["similarity"], (["" if v is None else f"{v:.6f}"] for v in values)), out)
