"""`regard similar`: cosine similarity of texts, or of words in context."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.inputs import ENDINGS, chunks, has_suffix
from regard.cli.options import JSON, OUT, QUIET, Given, Run, options
from regard.cli.predict.answers import Call
from regard.cli.predict.operations import INPUTS, check_inputs, operation_flags
from regard.cli.run_options import load_text_encoder, loading_flags
from regard.errors import ConfigError
from regard.pipelines.similarity import SimilarOptions, TextSimilarity, compare_words, load_word_average, nearest
from regard.pipelines.word_vectors import names_word_vectors
from regard.tasks.masked_lm.task import TASK

if TYPE_CHECKING:
    from regard.pipelines.similarity import Embeds

OPERATION = next(each for each in TASK.operations if each.name == "similar")
TEXT_ENCODERS = ("device", "threads", "precision", "pooling", "layer")
"""Options that word vectors do not have."""


@options(OUT, QUIET, JSON, *operation_flags(OPERATION), *loading_flags())
def similar(
    given: Given,
    run: Run,
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help=INPUTS)] = None,
) -> None:
    """Compare texts by the cosine similarity of their vectors.

    It is 1 for the same direction, 0 for orthogonal vectors.

    RUN may also be word vectors (a run, or a word2vec or GloVe file): a text is then the mean of its word vectors.

    Two texts give one number, more texts a matrix, each tab-separated line one number; a table comes back as CSV
    with a column `similarity`.
    """
    chosen, out = given.settings(SimilarOptions), given["out"]
    check_inputs(OPERATION, texts, given, out)
    _check(texts or [], given, chosen, out)
    is_table = names_word_vectors(run)
    for name, value in given.values_of(TEXT_ENCODERS if is_table else ()).items():
        raise ConfigError(f"--{name} {value}: for text encoders, and {run} is a table of word vectors; leave it out.")
    encoder = load_word_average(run) if is_table else load_text_encoder(run, given)
    if chosen.word:
        words = compare_words(encoder, texts or [], chosen, given.progress)
        given.show(words.to_dict(), (("vectors", "cosine"), words.rows(), [1]))
    elif chosen.against is not None:
        _print_nearest(encoder, texts, chosen, given)
    elif texts:
        cosines = encoder.similar(texts, texts, pooling=chosen.pooling, layer=chosen.layer, progress=given.progress)
        rows = [(text, *(f"{value:.4f}" for value in row)) for text, row in zip(texts, cosines, strict=True)]
        table = (("text", *texts), rows, range(1, len(texts) + 1))
        plain = {"texts": texts, "similarity": cosines.tolist()}
        given.show(plain, rows[0][2] if len(texts) == 2 else table, indent=None)
    else:
        Call(OPERATION, TextSimilarity(encoder), given).answer(None, out)


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


def _print_nearest(encoder: "Embeds", inputs: list[str] | None, chosen: SimilarOptions, given: Given) -> None:
    from regard.data.sources.lines import read_lines

    texts = [text for part in chunks(inputs, given["file"]) for text in part if text.strip()]
    others = [line for line in read_lines(Path(chosen.against or "")) if line.strip()]
    options = chosen.model_dump(include={"pooling", "layer"})
    near = nearest(encoder, texts, others, chosen.top or 5, progress=given.progress, **options)
    for text, neighbors in zip(texts, near, strict=True):
        lines = [f"{text}\t{each.similarity:.4f}\t{each.text}" for each in neighbors]
        given.show({"text": text, "nearest": neighbors}, *lines, indent=None)
