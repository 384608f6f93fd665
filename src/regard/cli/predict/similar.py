"""`regard similar`: cosine similarity of texts, or of words in context."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import print_json, print_line, print_table, progress, show
from regard.cli.inputs import ENDINGS, chunks, has_suffix
from regard.cli.loading import load_text_encoder, loading_flags
from regard.cli.options import NOTHING, Given, Json, Quiet, Run, TableOut, options
from regard.cli.predict.answers import Call
from regard.cli.predict.operations import INPUTS, check_inputs, columns_of, operation_flags, option_names
from regard.errors import ConfigError
from regard.pipelines.similarity import SimilarOptions, TextSimilarity, nearest
from regard.pipelines.word_vectors import load_word_vectors, names_word_vectors
from regard.progress import Progress
from regard.tasks.masked_lm.task import TASK

if TYPE_CHECKING:
    from regard.pipelines.encoder_results import Vectors
    from regard.pipelines.similarity import Embeds

OPERATION = next(each for each in TASK.operations if each.name == "similar")


@options(*operation_flags(OPERATION), *loading_flags())
def similar(
    run: Run,
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help=INPUTS)] = None,
    out: TableOut = None,
    quiet: Quiet = False,
    json: Json = False,
    given: Given = NOTHING,
) -> None:
    """Compare texts by the cosine similarity of their vectors.

    It is 1 for the same direction, 0 for orthogonal vectors.

    RUN may also be word vectors (a run, or a word2vec or GloVe file): a text is then the mean of its word vectors.

    Two texts give one number, more texts a matrix, each tab-separated line one number; a table comes back as CSV
    with a column `similarity`.
    """
    check_inputs(OPERATION, texts, given, out)
    chosen, reporter = given.settings(SimilarOptions), progress(quiet)
    _check(texts or [], given, chosen, out)
    encoder = _encoder(run, given)
    if chosen.word:
        _compare_words(encoder, texts or [], chosen, reporter, json)
    elif chosen.against is not None:
        queries = [text for part in chunks(texts, given["file"]) for text in part if text.strip()]
        _print_nearest(encoder, queries, chosen, reporter, json)
    elif texts:
        cosines = encoder.similar(texts, texts, pooling=chosen.pooling, layer=chosen.layer, progress=reporter)
        _print_matrix(texts, cosines, json)
    else:
        values = given.values_of(option_names(OPERATION))
        call = Call(OPERATION, TextSimilarity(encoder), values, columns_of(OPERATION, given), given, json, reporter)
        call.answer(None, out)


def _check(texts: Sequence[str], given: Given, chosen: SimilarOptions, out: Path | None) -> None:
    """Raise for arguments that contradict the comparison, before a model is loaded."""
    if chosen.word and (len(texts) != 2 or chosen.against):
        raise ConfigError("--word compares a word in two texts; give two texts after RUN.")
    if len(texts) == 1 and not chosen.against:
        raise ConfigError("There is one text to compare; give two, or a file with --against.")
    if chosen.against and has_suffix(given["file"], ENDINGS):
        raise ConfigError("--against takes texts or lines, not a table; give the texts of the table as lines.")
    if out is not None and (texts or chosen.against):
        raise ConfigError("--out is for pairs in lines or tables; leave it out.")


def _encoder(run: str, given: Given) -> "Embeds":
    if not names_word_vectors(run):
        return load_text_encoder(run, given)
    for name, value in given.values_of(("device", "threads", "precision", "pooling", "layer")).items():
        raise ConfigError(f"--{name} {value}: for text encoders, and {run} is a table of word vectors; leave it out.")
    from regard.pipelines.word_average import WordAverageEncoder

    return WordAverageEncoder(load_word_vectors(run))


def _compare_words(
    encoder: "Embeds", texts: Sequence[str], chosen: SimilarOptions, reporter: Progress, json: bool
) -> None:
    one, other = (texts[0], chosen.word[0]), (texts[1], chosen.word[-1])
    values, names = vars(encoder.similar_words(one, other, chosen.layer)), {}
    if chosen.beside is not None:
        vectors = load_word_vectors(chosen.beside, progress=reporter)
        values = values | {"word_vectors": vectors.similarity(one[1], other[1])}
        names = {"word_vectors": f"word vectors ({Path(chosen.beside).name})"}
    rows = [(names.get(name, name.replace("_", " ")), f"{value:.4f}") for name, value in values.items()]
    show(json, values, (("vectors", "cosine"), rows, [1]))


def _print_matrix(texts: Sequence[str], values: "Vectors", json: bool) -> None:
    if json:
        print_json({"texts": texts, "similarity": values.tolist()}, indent=None)
    elif len(texts) == 2:
        print_line(f"{values[0, 1]:.4f}")
    else:
        rows = [(text, *(f"{value:.4f}" for value in row)) for text, row in zip(texts, values, strict=True)]
        print_table(("text", *texts), rows, right=range(1, len(texts) + 1))


def _print_nearest(
    encoder: "Embeds", texts: Sequence[str], chosen: SimilarOptions, reporter: Progress, json: bool
) -> None:
    from regard.data.sources.lines import read_lines

    others = [line for line in read_lines(Path(chosen.against or "")) if line.strip()]
    options = chosen.model_dump(include={"pooling", "layer"})
    near = nearest(encoder, texts, others, chosen.top or 5, progress=reporter, **options)
    for text, neighbors in zip(texts, near, strict=True):
        if json:
            print_json({"text": text, "nearest": neighbors}, indent=None)
        else:
            print_line("\n".join(f"{text}\t{each.similarity:.4f}\t{each.text}" for each in neighbors))
