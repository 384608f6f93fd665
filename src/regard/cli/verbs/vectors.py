"""`regard vectors`: words and what is near them, in a run or in a file of word2vec or GloVe."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Json, Quiet
from regard.cli.verb import Verbs
from regard.cli.verbs.vectors_study import evaluate, map_

app = Verbs(
    help="Look at word vectors: neighbors, similarity, analogies, the odd one out; evaluate and draw them.",
    no_args_is_help=True,
)
app.command("evaluate")(evaluate)
app.command("map")(map_)

Vectors = Annotated[
    str, typer.Argument(metavar="RUN", help="A run of the task vectors, or a file of word2vec or GloVe (.gz too).")
]
First = Annotated[int | None, typer.Option(min=1, help="Of a file: read only so many rows, the most frequent words.")]
Metric = Annotated[str, typer.Option(help="cosine, dot (the product) or euclidean (the distance).")]
Exclude = Annotated[list[str] | None, typer.Option(help="A word that is no answer; may be repeated.")]
Top = Annotated[int, typer.Option("--top", "-k", min=1, help="How many words for each.")]
Batch = Annotated[
    Path | None, typer.Option("--file", "-f", help="Take the lines of this file, words with spaces between.")
]
Words = Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Words; unset: lines that come in.")]


def _questions(
    words: list[str] | None, file: Path | None, size: int | None, what: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield (where it stands, words) for each question: those given, or one a line."""
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
            found = words if line is None else line.split("\t") if "\t" in line else line.split()
            found = [each for each in found or [] if each.strip()]
            if not found:
                continue
            where = "" if line is None else f"{file or 'standard input'}: line {number:,}: "
            if size is not None and len(found) != size:
                raise DataError(f"{where or ''}{what} takes {size} words, not {len(found)}: {' '.join(found)}.")
            yield where, found


def _answer(
    vectors: Any,
    asked: Iterator[tuple[str, list[str]]],
    make: Callable[[list[str]], Any],
    show: Callable[..., None],
    is_json: bool,
    quiet: bool,
) -> None:
    """Answer each question; in a file, one with a word that has no vector is passed over and counted."""
    from regard.cli.console import print_json, print_line, progress

    passed = 0
    for where, words in asked:
        unknown = [word for word in words if vectors.find(word) is None]
        if unknown and where:
            passed += 1
            if is_json:
                print_json({"words": words, "unknown": unknown}, indent=None)
            else:
                print_line(f"{' '.join(words)}\tunknown: {' '.join(unknown)}")
            continue
        found = make(words)
        if is_json:
            print_json({"words": words} | found, indent=None)
        else:
            show(words, found)
    if passed:
        lines = "1 line holds" if passed == 1 else f"{passed:,} lines hold"
        progress(quiet).warn(f"{lines} a word that has no vector in {vectors.name}.")


def _show_near(words: list[str], found: dict[str, Any]) -> None:
    from regard.cli.console import print_line

    for each in found["nearest"]:
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
    """List the words nearest to each word, best first."""
    vectors = _load(run, first, quiet)
    make = lambda given: {"nearest": vectors.neighbors(given[0], top, metric, exclude or ())}
    _answer(vectors, _questions(words, file, 1, "neighbors"), make, _show_near, json, quiet)


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
    """Say how alike two words are (1: the same direction), or how far apart."""
    from regard.cli.console import print_line

    vectors = _load(run, first, quiet)
    make = lambda given: {"metric": metric, "value": vectors.similarity(*given, metric)}
    show = lambda given, found: print_line(f"{' '.join(given)}\t{found['value']:.4f}")
    _answer(vectors, _questions(words, file, 2, "similarity"), make, show, json, quiet)


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
    """Find what is to the third word as the second is to the first: man woman king gives queen."""
    vectors = _load(run, first, quiet)
    make = lambda given: {"nearest": vectors.analogy(*given, top, metric, exclude or ())}
    _answer(vectors, _questions(words, file, 3, "analogy"), make, _show_near, json, quiet)


@app.command("odd-one-out")
def odd_one_out(
    run: Vectors,
    words: Words = None,
    file: Batch = None,
    first: First = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find the word that is least like the others."""
    from regard.cli.console import print_line

    vectors = _load(run, first, quiet)

    def make(given: list[str]) -> dict[str, Any]:
        odd, values = vectors.odd_one_out(given)
        return {"odd": odd, "values": values}

    show = lambda given, found: print_line(f"{' '.join(given)}\t{found['odd']}")
    _answer(vectors, _questions(words, file, None, "odd-one-out"), make, show, json, quiet)
