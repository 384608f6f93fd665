"""`regard vectors`: queries to the word vectors of a run or of a word2vec or GloVe file, and maps of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.inputs import chunks
from regard.cli.options import JSON, QUIET, Flag, Given, Verb, options
from regard.cli.verb import Verbs
from regard.errors import ConfigError, DataError
from regard.pipelines.word_settings import LoadedWords
from regard.tasks.word_vectors.queries import QUERIES, Query
from regard.tasks.word_vectors.settings import MapSettings

if TYPE_CHECKING:
    from regard.pipelines.word_vectors import WordVectors

app = Verbs(
    help="Query word vectors: neighbors, similarity, analogies, outliers, maps.",
    no_args_is_help=True,
)
Vectors = Annotated[
    str, typer.Argument(metavar="RUN", help="Run of the task vectors, or a word2vec or GloVe file (.gz too).")
]
Words = Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Words (default: standard input).")]
FILE = Flag("file", Path, "File of queries, one per line, words separated by spaces.", letter="-f")


def query_verb(query: Query) -> Verb:
    """Return the verb of a query."""

    @options(QUIET, JSON, query.options, FILE, LoadedWords)
    def verb(given: Given, run: Vectors, words: Words = None) -> None:
        chosen, vectors, skipped = given.settings(query.options), load(run, given), 0
        for where, each in queries(words, given["file"], query.size, query.name):
            unknown = [word for word in each if vectors.find(word) is None]
            if unknown and where:
                skipped += 1
                values, lines = {"unknown": unknown}, [f"unknown: {' '.join(unknown)}"]
            else:
                values, lines = query.answer(vectors, each, chosen)
            shown = ["\t".join([" ".join(each), line]) for line in lines]
            given.show({"words": each} | values, *shown, indent=None)
        if skipped:
            count = "1 line has" if skipped == 1 else f"{skipped:,} lines have"
            given.progress.warn(f"{count} a word without a vector in {vectors.name}.")

    return verb


for each in QUERIES:
    app.command(each.name, help=each.summary)(query_verb(each))


def queries(
    words: list[str] | None, file: Path | None, size: int | None, what: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield (location, words) of each query: the arguments (location ""), or one per line."""
    if words and file:
        raise ConfigError("Give either words or --file, not both.")
    if words and size == 1:
        yield from (("", [word]) for word in words)
        return
    lines = (line for part in ([[None]] if words else chunks(None, file)) for line in part)
    for number, line in enumerate(lines, 1):
        split = words if line is None else line.split("\t") if "\t" in line else line.split()
        if not (each := [word for word in split or [] if word.strip()]):
            continue
        where = "" if line is None else f"{file or 'standard input'}: line {number:,}: "
        if size is not None and len(each) != size:
            raise DataError(f"{where}{what} takes {size} words, not {len(each)}: {' '.join(each)}.")
        yield where, each


def load(path: str, given: Given) -> "WordVectors":
    """Return word vectors, the first rows alone if that was asked for."""
    from regard.pipelines.word_vectors import load_word_vectors

    return load_word_vectors(path, given.settings(LoadedWords).first, given.progress)


@app.command("map")
@options(QUIET, JSON, MapSettings, LoadedWords)
def map_(given: Given, run: Vectors, words: Words = None) -> None:
    """Plot word vectors in two dimensions: a PNG, and a self-contained HTML page with zoom and neighbors."""
    from regard.tasks.word_vectors.map import plot_map

    chosen, vectors = given.settings(MapSettings), load(run, given)
    path = chosen.out or (Path(run) / "map" if Path(run).is_dir() else Path("map"))
    files = plot_map(vectors, words or [], chosen.top, chosen.method, path, chosen.seed)
    given.show({"files": files}, *map(str, files))
