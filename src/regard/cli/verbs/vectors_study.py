"""`regard vectors evaluate` and `regard vectors map`: figures and pictures of word vectors."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import LARGEST_SEED, Json, Quiet

RunOrFile = Annotated[
    str, typer.Argument(metavar="RUN", help="A run of the task vectors, or a file of word2vec or GloVe (.gz too).")
]


def evaluate(
    run: RunOrFile,
    analogies: Annotated[
        Path | None, typer.Option(help="Analogies by section, such as questions-words.txt (.gz too).")
    ] = None,
    similarities: Annotated[
        list[Path] | None,
        typer.Option(help="Pairs of words that people have rated, such as WordSim-353; may repeat."),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="Answer analogies with one of the first so many words; unset: of all.")
    ] = None,
    first: Annotated[int | None, typer.Option(min=1, help="Of a file: read only so many rows.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score word vectors on analogies and on what people say about pairs; coverage is told with every figure."""
    from regard.cli.console import print_json, progress
    from regard.errors import ConfigError
    from regard.pipelines.word_vectors import load_word_vectors
    from regard.tasks.word_vectors.evaluate import score_analogies, score_similarities

    if analogies is None and not similarities:
        raise ConfigError("Say what to score on: --analogies FILE, --similarities FILE, or both.")
    vectors = load_word_vectors(run, first, progress(quiet))
    answered = None if analogies is None else score_analogies(vectors, analogies, candidates, progress(quiet))
    rated = [score_similarities(vectors, path) for path in similarities or []]
    if json:
        print_json({"analogies": _plain(answered), "similarities": rated})
        return
    print_vector_scores(_plain(answered), [vars(each) for each in rated])


def _plain(found: Any) -> dict[str, Any] | None:
    from regard.tasks.word_vectors.evaluate import plain_analogies

    return None if found is None else plain_analogies(found)


def print_vector_scores(answered: dict[str, Any] | None, rated: list[dict[str, Any]]) -> None:
    """Print one row a section, and one a file of rated pairs."""
    from regard.cli.console import print_line, print_table
    from regard.tasks.word_vectors.evaluate import analogy_rows, rating_rows

    if answered:
        print_table(("analogies", "questions", "covered", "right"), analogy_rows(answered), right=range(1, 4))
    if answered and rated:
        print_line()
    if rated:
        header = ("rated pairs", "pairs", "covered", "Spearman", "Pearson")
        print_table(header, rating_rows(rated), right=range(1, 5))


def map_(
    run: RunOrFile,
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Words to draw.")] = None,
    top: Annotated[int | None, typer.Option(min=3, help="Draw so many of the most frequent words too.")] = None,
    method: Annotated[
        str, typer.Option(help="pca (straight lines stay straight) or tsne (neighbors stay together).")
    ] = "pca",
    out: Annotated[
        Path | None,
        typer.Option(metavar="NAME", help="Write NAME.png and NAME.html; unset: map, beside the vectors."),
    ] = None,
    first: Annotated[int | None, typer.Option(min=1, help="Of a file: read only so many rows.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of t-SNE, which begins at random.")] = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw words as points: a PNG, and an HTML page of its own to zoom into and point at."""
    from regard.cli.console import print_json, print_line, progress
    from regard.pipelines.word_vectors import load_word_vectors
    from regard.tasks.word_vectors.map import draw_map

    vectors = load_word_vectors(run, first, progress(quiet))
    place = out or (Path(run) / "map" if Path(run).is_dir() else Path("map"))
    files = draw_map(vectors, words or [], top, method, place, seed)
    if json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        print_line(str(file))
