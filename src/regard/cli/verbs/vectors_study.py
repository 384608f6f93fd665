"""`regard vectors map`: plots of word vectors."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import LARGEST_SEED, Json, Quiet

RunOrFile = Annotated[
    str, typer.Argument(metavar="RUN", help="Run of the task vectors, or a word2vec or GloVe file (.gz too).")
]


def map_(
    run: RunOrFile,
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Words to plot.")] = None,
    top: Annotated[int | None, typer.Option(min=3, help="Number of most frequent words to plot as well.")] = None,
    method: Annotated[
        str, typer.Option(help="pca: linear projection; tsne: t-SNE, which preserves neighborhoods.")
    ] = "pca",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="NAME", help="Output NAME.png and NAME.html (default: map in the run, or in the current folder)."
        ),
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Rows to load from a file: its most frequent words (default: all).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Random seed of t-SNE.")] = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Plot word vectors in two dimensions: a PNG, and a self-contained HTML page with zoom and neighbors."""
    from regard.cli.console import print_json, print_line, progress
    from regard.pipelines.word_vectors import load_word_vectors
    from regard.tasks.word_vectors.map import plot_map

    vectors = load_word_vectors(run, first, progress(quiet))
    path = out or (Path(run) / "map" if Path(run).is_dir() else Path("map"))
    files = plot_map(vectors, words or [], top, method, path, seed)
    if json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        print_line(str(file))
