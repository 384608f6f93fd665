"""`regard vectors evaluate` and `regard vectors map`: metrics and plots of word vectors."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import LARGEST_SEED, Json, Quiet

RunOrFile = Annotated[
    str, typer.Argument(metavar="RUN", help="Run of the task vectors, or a word2vec or GloVe file (.gz too).")
]


def evaluate(
    run: RunOrFile,
    analogies: Annotated[
        Path | None, typer.Option(help="Analogy file with sections, such as questions-words.txt (.gz too).")
    ] = None,
    similarities: Annotated[
        list[Path] | None,
        typer.Option(help="File of word pairs with human similarity ratings, such as WordSim-353; repeatable."),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(min=1, help="Restrict analogy answers to the N most frequent words (default: all)."),
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Rows to load from a file: its most frequent words (default: all).")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Evaluate word vectors on analogies and human similarity ratings, with the coverage of each data set."""
    from regard import registry
    from regard.cli.console import print_json, progress
    from regard.cli.metrics import print_scores
    from regard.errors import ConfigError
    from regard.pipelines.word_vectors import load_word_vectors
    from regard.tasks.contract import find_task
    from regard.tasks.word_vectors.evaluate import score_analogies, score_similarities

    if analogies is None and not similarities:
        raise ConfigError("There is no data to evaluate on; give --analogies FILE, --similarities FILE, or both.")
    vectors = load_word_vectors(run, first, progress(quiet))
    analogy_scores = None if analogies is None else score_analogies(vectors, analogies, candidates, progress(quiet))
    similarity_scores = [score_similarities(vectors, path) for path in similarities or []]
    if json:
        print_json({"analogies": _plain(analogy_scores), "similarities": similarity_scores})
        return
    scores = ({} if analogy_scores is None else {"analogies": _plain(analogy_scores)}) | {
        "similarities": [vars(each) for each in similarity_scores]
    }
    print_scores(find_task(registry.task_of_model("word-vectors")), scores)


def _plain(scores: Any) -> dict[str, Any] | None:
    from regard.tasks.word_vectors.evaluate import plain_analogies

    return None if scores is None else plain_analogies(scores)


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
