"""`regard vectors`: queries to the word vectors of a run or of a word2vec or GloVe file, and maps of them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import print_json, print_line, progress
from regard.cli.inputs import chunks
from regard.cli.options import NOTHING, Flag, Given, Json, Quiet, flags_of, options
from regard.cli.verb import Verbs
from regard.config.settings import Settings
from regard.errors import ConfigError, DataError
from regard.pipelines.word_settings import AnalogyOptions, LoadedWords, MetricOptions, NeighborOptions
from regard.tasks.word_vectors.settings import MapSettings

if TYPE_CHECKING:
    from regard.pipelines.word_vectors import Neighbor, WordVectors

app = Verbs(
    help="Query word vectors: neighbors, similarity, analogies, outliers, maps.",
    no_args_is_help=True,
)
Vectors = Annotated[
    str, typer.Argument(metavar="RUN", help="Run of the task vectors, or a word2vec or GloVe file (.gz too).")
]
Words = Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Words (default: standard input).")]
QUERIES = Flag("file", Path, "File of queries, one per line, words separated by spaces.", letter="-f")
Answers = tuple[dict[str, Any], list[str]]
"""The values of an answer, and what its lines have after the words of the query."""


def query(name: str, size: int | None, schema: type[Settings]) -> Callable[[Callable[..., Answers]], None]:
    """Return the decorator that makes a verb of a function of (vectors, words, options)."""

    def decorate(compute: Callable[..., Answers]) -> None:
        @app.command(name, help=compute.__doc__)
        @options(*flags_of(schema, shows_defaults=True), QUERIES, *flags_of(LoadedWords))
        def verb(
            run: Vectors, words: Words = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False
        ) -> None:
            chosen, vectors, skipped = given.settings(schema), load(run, given, quiet), 0
            for where, each in queries(words, given["file"], size, name):
                unknown = [word for word in each if vectors.find(word) is None]
                if unknown and where:
                    skipped += 1
                    values, lines = {"unknown": unknown}, [f"unknown: {' '.join(unknown)}"]
                else:
                    values, lines = compute(vectors, each, chosen)
                if json:
                    print_json({"words": each} | values, indent=None)
                else:
                    print_line("\n".join("\t".join([" ".join(each), line]) for line in lines))
            if skipped:
                count = "1 line has" if skipped == 1 else f"{skipped:,} lines have"
                progress(quiet).warn(f"{count} a word without a vector in {vectors.name}.")

    return decorate


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


def load(path: str, given: Given, quiet: bool) -> "WordVectors":
    """Return word vectors, the first rows alone if that was asked for."""
    from regard.pipelines.word_vectors import load_word_vectors

    return load_word_vectors(path, given.settings(LoadedWords).first, progress(quiet))


def _nearest(words: "Sequence[Neighbor]") -> Answers:
    return {"nearest": words}, [f"{each.word}\t{each.value:.4f}" for each in words]


@query("neighbors", 1, NeighborOptions)
def _neighbors(vectors: "WordVectors", words: list[str], chosen: NeighborOptions) -> Answers:
    """List the nearest neighbors of each word, nearest first."""
    return _nearest(vectors.neighbors(words[0], chosen.top, chosen.metric, chosen.exclude))


@query("similarity", 2, MetricOptions)
def _similarity(vectors: "WordVectors", words: list[str], chosen: MetricOptions) -> Answers:
    """Compute the similarity (cosine, dot) or distance (euclidean) of two words."""
    one, other = words
    value = vectors.similarity(one, other, chosen.metric)
    return {"metric": chosen.metric, "value": value}, [f"{value:.4f}"]


@query("analogy", 3, AnalogyOptions)
def _analogy(vectors: "WordVectors", words: list[str], chosen: AnalogyOptions) -> Answers:
    """Solve an analogy: `man woman king` (man is to woman as king is to ...) gives queen."""
    a, b, c = words
    return _nearest(vectors.analogy(a, b, c, chosen.top, chosen.metric, chosen.exclude))


@query("odd-one-out", None, Settings)
def _odd_one_out(vectors: "WordVectors", words: list[str], chosen: Settings) -> Answers:
    """Find the outlier: the word with the lowest similarity to the others."""
    outlier, values = vectors.odd_one_out(words)
    return {"odd": outlier, "values": values}, [outlier]


@app.command("map")
@options(*flags_of(MapSettings, shows_defaults=True), *flags_of(LoadedWords))
def map_(run: Vectors, words: Words = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False) -> None:
    """Plot word vectors in two dimensions: a PNG, and a self-contained HTML page with zoom and neighbors."""
    from regard.tasks.word_vectors.map import plot_map

    chosen, vectors = given.settings(MapSettings), load(run, given, quiet)
    path = chosen.out or (Path(run) / "map" if Path(run).is_dir() else Path("map"))
    files = plot_map(vectors, words or [], chosen.top, chosen.method, path, chosen.seed)
    if json:
        print_json({"files": files})
    else:
        print_line("\n".join(map(str, files)))
