"""`regard vectors`: queries to the word vectors of a run or of a word2vec or GloVe file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Json, Quiet
from regard.cli.verb import Verbs
from regard.cli.verbs.vectors_study import map_

app = Verbs(
    help="Query word vectors (neighbors, similarity, analogies, outliers), plot them.",
    no_args_is_help=True,
)
app.command("map")(map_)

Vectors = Annotated[
    str, typer.Argument(metavar="RUN", help="Run of the task vectors, or a word2vec or GloVe file (.gz too).")
]
First = Annotated[
    int | None, typer.Option(min=1, help="Rows to load from a file: its most frequent words (default: all).")
]
Metric = Annotated[
    str, typer.Option(help="cosine: cosine similarity; dot: dot product; euclidean: Euclidean distance.")
]
Exclude = Annotated[list[str] | None, typer.Option(help="Word to exclude from the results; repeatable.")]
Top = Annotated[int, typer.Option("--top", "-k", min=1, help="Words to list per query.")]
Batch = Annotated[
    Path | None, typer.Option("--file", "-f", help="File of queries, one per line, words separated by spaces.")
]
Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WORD]...", help="Words of the query (default: standard input, one query per line)."),
]


def _queries(
    words: list[str] | None, file: Path | None, size: int | None, what: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield (location, words) of each query: the arguments (location ""), or one per line."""
    from regard.errors import ConfigError, DataError

    if words and file:
        raise ConfigError("Give either words or --file, not both.")
    if words and size == 1:
        yield from (("", [word]) for word in words)
        return
    number = 0
    for part in [[None]] if words else chunks(None, file):
        for line in part:
            number += 1
            split = words if line is None else line.split("\t") if "\t" in line else line.split()
            query = [each for each in split or [] if each.strip()]
            if not query:
                continue
            where = "" if line is None else f"{file or 'standard input'}: line {number:,}: "
            if size is not None and len(query) != size:
                raise DataError(f"{where or ''}{what} takes {size} words, not {len(query)}: {' '.join(query)}.")
            yield where, query


def _answer(
    vectors: Any,
    queries: Iterator[tuple[str, list[str]]],
    compute: Callable[[list[str]], Any],
    show: Callable[..., None],
    is_json: bool,
    quiet: bool,
) -> None:
    """Answer each query; a line with an out-of-vocabulary word is skipped and counted."""
    from regard.cli.console import print_json, print_line, progress

    skipped = 0
    for where, words in queries:
        unknown = [word for word in words if vectors.find(word) is None]
        if unknown and where:
            skipped += 1
            if is_json:
                print_json({"words": words, "unknown": unknown}, indent=None)
            else:
                print_line(f"{' '.join(words)}\tunknown: {' '.join(unknown)}")
            continue
        result = compute(words)
        if is_json:
            print_json({"words": words} | result, indent=None)
        else:
            show(words, result)
    if skipped:
        lines = "1 line has" if skipped == 1 else f"{skipped:,} lines have"
        progress(quiet).warn(f"{lines} a word without a vector in {vectors.name}.")


def _show_nearest(words: list[str], result: dict[str, Any]) -> None:
    from regard.cli.console import print_line

    for each in result["nearest"]:
        print_line(f"{' '.join(words)}\t{each.word}\t{each.value:.4f}")


def _load(path: str, first: int | None, quiet: bool) -> Any:
    from regard.cli.console import progress
    from regard.pipelines.word_vectors import load_word_vectors

    return load_word_vectors(path, first, progress(quiet))


@app.command("neighbors")
def neighbors(
    run: Vectors,
    words: Words = None,
    file: Batch = None,
    top: Top = 10,
    metric: Metric = "cosine",
    exclude: Exclude = None,
    first: First = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the nearest neighbors of each word, nearest first."""
    vectors = _load(run, first, quiet)
    compute = lambda query: {"nearest": vectors.neighbors(query[0], top, metric, exclude or ())}
    _answer(vectors, _queries(words, file, 1, "neighbors"), compute, _show_nearest, json, quiet)


@app.command("similarity")
def similarity(
    run: Vectors,
    words: Words = None,
    file: Batch = None,
    metric: Metric = "cosine",
    first: First = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compute the similarity (cosine, dot) or distance (euclidean) of two words."""
    from regard.cli.console import print_line

    vectors = _load(run, first, quiet)
    compute = lambda query: {"metric": metric, "value": vectors.similarity(*query, metric)}
    show = lambda query, result: print_line(f"{' '.join(query)}\t{result['value']:.4f}")
    _answer(vectors, _queries(words, file, 2, "similarity"), compute, show, json, quiet)


@app.command("analogy")
def analogy(
    run: Vectors,
    words: Words = None,
    file: Batch = None,
    top: Top = 5,
    metric: Metric = "cosine",
    exclude: Exclude = None,
    first: First = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Solve an analogy: `man woman king` (man is to woman as king is to ...) gives queen."""
    vectors = _load(run, first, quiet)
    compute = lambda query: {"nearest": vectors.analogy(*query, top, metric, exclude or ())}
    _answer(vectors, _queries(words, file, 3, "analogy"), compute, _show_nearest, json, quiet)


@app.command("odd-one-out")
def odd_one_out(
    run: Vectors,
    words: Words = None,
    file: Batch = None,
    first: First = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find the outlier: the word with the lowest similarity to the others."""
    from regard.cli.console import print_line

    vectors = _load(run, first, quiet)

    def compute(query: list[str]) -> dict[str, Any]:
        outlier, values = vectors.odd_one_out(query)
        return {"odd": outlier, "values": values}

    show = lambda query, result: print_line(f"{' '.join(query)}\t{result['odd']}")
    _answer(vectors, _queries(words, file, None, "odd-one-out"), compute, show, json, quiet)
