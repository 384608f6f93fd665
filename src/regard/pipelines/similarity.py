"""Similarity of texts: the cosine of their embeddings, of pairs and of the nearest among many."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from regard.config.schema import Doc
from regard.errors import DataError
from regard.pipelines.base import Options, Pipeline, Plain, Result
from regard.pipelines.embedding import VectorOptions
from regard.pipelines.encoder_results import WordSimilarity
from regard.pipelines.inputs import check_text
from regard.pipelines.word_vectors import load_word_vectors
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.pipelines.encoder import Encoder
    from regard.pipelines.word_average import WordAverageEncoder

    Embeds = Encoder | WordAverageEncoder
    """An encoder of texts: a model, or averages of word vectors."""

AT_ONCE = 2**24
"""Similarities computed at once."""


@dataclass(frozen=True)
class TextPair:
    """Two texts."""

    text: Annotated[str, Doc("The first text.")]
    second: Annotated[str, Doc("The second text.")]


class SimilarOptions(VectorOptions):
    """Options of comparisons of texts."""

    only_here = ("against", "top", "word", "beside")

    against: str | None = None
    """File to search: list its lines nearest to each text or line of --file."""
    top: int | None = Field(None, ge=1)
    """With --against: nearest lines to list (default: 5)."""
    word: tuple[str, ...] = ()
    """Compare the contextual vectors of this word in both texts; twice: one word per text."""
    beside: str | None = None
    """With --word: word vectors (a run, or a file) to compare the contextual vectors with."""

    @model_validator(mode="after")
    def _belong_together(self) -> "SimilarOptions":
        if len(self.word) > 2:
            raise ValueError(f"--word {self.word[2]}: give at most one word per text; leave this one out.")
        if self.beside and not self.word:
            raise ValueError("--beside compares the vectors of a word; name it with --word.")
        if self.word and self.pooling:
            raise ValueError("--pooling is for vectors of texts; leave it out with --word.")
        if self.top is not None and not self.against:
            raise ValueError(f"--top {self.top} is for the nearest lines of a file; name one with --against.")
        return self


@dataclass(frozen=True)
class Similarity(Result):
    """The cosine similarity of two texts."""

    row: TextPair
    similarity: float

    columns = ("similarity",)

    @property
    def text(self) -> str:
        """The similarity with four decimals."""
        return f"{self.similarity:.4f}"

    def to_dict(self) -> Plain:
        """Return the texts and their similarity."""
        return {"texts": [self.row.text, self.row.second], "similarity": self.similarity}


class TextSimilarity(Pipeline[TextPair, SimilarOptions, Similarity]):
    """Compares the texts of pairs by their embeddings."""

    row = TextPair
    inputs = ("text", "second")
    options_class = SimilarOptions

    def __init__(self, encoder: "Embeds") -> None:
        self.encoder = encoder

    @property
    def columns(self) -> Plain:
        """The columns of the encoder's training table."""
        return self.encoder.columns

    def check(self, row: TextPair, options: Options, where: str) -> None:
        """Refuse what is not text."""
        for text in (row.text, row.second):
            check_text(text, where)

    def predict(
        self, rows: Sequence[TextPair], options: SimilarOptions, progress: Progress = SILENT
    ) -> list[Similarity]:
        """Return the similarity of the texts of each pair."""
        texts = [text for row in rows for text in (row.text, row.second)]
        chosen = options.model_dump(include={"pooling", "layer"})
        vectors = self.encoder.embed(texts, **chosen, is_normalized=True, progress=progress)
        values = (vectors[::2] * vectors[1::2]).sum(1).tolist()
        return [Similarity(row, value) for row, value in zip(rows, values, strict=True)]


def load_word_average(path: str) -> "WordAverageEncoder":
    """Return word vectors as an encoder of texts."""
    from regard.pipelines.word_average import WordAverageEncoder

    return WordAverageEncoder(load_word_vectors(path))


@dataclass(frozen=True)
class WordComparison:
    """The similarity of two words in their texts, and of their static vectors from elsewhere."""

    words: WordSimilarity
    beside: float | None = None
    name: str = ""
    """The file of the static vectors."""

    def to_dict(self) -> Plain:
        """Return all similarities."""
        return asdict(self.words) | ({} if self.beside is None else {"word_vectors": self.beside})

    def rows(self) -> list[tuple[str, str]]:
        """Return a row for each kind of vectors."""
        names = {"word_vectors": f"word vectors ({self.name})"}
        return [(names.get(key, key.replace("_", " ")), f"{value:.4f}") for key, value in self.to_dict().items()]


def compare_words(
    encoder: "Embeds", texts: Sequence[str], options: SimilarOptions, progress: Progress = SILENT
) -> WordComparison:
    """Return the similarity of the word of the options in two texts, or of one word in each."""
    one, other = (texts[0], options.word[0]), (texts[1], options.word[-1])
    words = encoder.similar_words(one, other, options.layer)
    if options.beside is None:
        return WordComparison(words)
    vectors = load_word_vectors(options.beside, progress=progress)
    return WordComparison(words, vectors.similarity(one[1], other[1]), Path(options.beside).name)


@dataclass(frozen=True)
class Near:
    """A text, its index among the others, and its similarity to the query."""

    text: str
    number: int
    similarity: float


def nearest(
    encoder: "Embeds",
    texts: Sequence[str],
    others: Sequence[str],
    top: int = 5,
    *,
    progress: Progress = SILENT,
    **overrides: Any,
) -> list[list[Near]]:
    """Return for each text the `top` most similar of the others, best first."""
    if not others:
        raise DataError("There are no other texts to compare with.")
    overrides |= {"is_normalized": True, "progress": progress}
    queries, keys = (encoder.embed(list(each), **overrides) for each in (texts, others))
    count = min(top, len(others))
    results: list[list[Near]] = []
    for begin in range(0, len(queries), max(1, AT_ONCE // len(others))):
        values = queries[begin : begin + max(1, AT_ONCE // len(others))] @ keys.T
        # Stable, so that ties keep the order of the texts.
        best = np.argsort(-values, axis=1, kind="stable")[:, :count]
        results += [
            [Near(others[index], int(index), float(row[index])) for index in indices]
            for row, indices in zip(values, best, strict=True)
        ]
    return results
