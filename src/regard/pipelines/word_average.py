"""Averages of static word vectors as text embeddings: the baseline of `Encoder`."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.errors import ConfigError, DataError
from regard.pipelines.base import Plain
from regard.pipelines.encoder_results import Vectors, WordSimilarity
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.text.settings import WordSettings
from regard.text.word_vocabulary import splitter


class WordAverageEncoder:
    """A text encoder that pools the word vectors of a text."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors
        self.columns: Plain = {}
        self.split = splitter(WordSettings(lowercase=False))  # `find` tries the lowercase word, too

    def embed(
        self,
        texts: Sequence[str],
        pooling: str | None = None,
        layer: int = -1,
        is_normalized: bool = False,
        *,
        progress: Progress = SILENT,
    ) -> Vectors:
        """Return text embeddings (N, D): the mean or maximum of their word vectors; zeros without any."""
        if layer not in (-1, 0):
            raise ConfigError(f"layer: {layer} does not exist, word vectors have one layer; leave it out.")
        if pooling not in (None, "mean", "max"):
            raise ConfigError(f'pooling: "{pooling}" is for text encoders; word vectors take mean or max.')
        rows = [[n for n in map(self.vectors.find, self.split(text)) if n is not None] for text in texts]
        empty = sum(not row for row in rows)
        if empty:
            texts = f"{empty:,} of {len(rows):,} texts" if len(rows) != 1 else "The text"
            verb = "has" if empty == 1 else "have"
            progress.warn(f"{texts} {verb} no word with a vector: all similarities are 0.")
        table, width = self.vectors.vectors, self.vectors.width
        pool = np.max if pooling == "max" else np.mean
        means = [pool(table[row], axis=0) if row else np.zeros(width, np.float32) for row in rows]
        vectors = np.array(means, np.float32).reshape(len(rows), width)
        if not is_normalized:
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def similar(self, one: Sequence[str], other: Sequence[str], **overrides: Any) -> Vectors:
        """Return the cosine similarities of all pairs of two lists of texts (N, M)."""
        vectors = self.embed([*one, *other], **(overrides | {"is_normalized": True}))
        return vectors[: len(one)] @ vectors[len(one) :].T

    def similar_words(self, one: tuple[str, str], other: tuple[str, str], layer: int = -1) -> WordSimilarity:
        """Return the similarity of two words, each given as (text, word); their texts have no influence."""
        for text, word in (one, other):
            if not word.strip() or not re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", text, re.IGNORECASE):
                raise DataError(f'There is no word "{word}" in "{text}"; name one that is.')
        value = self.vectors.similarity(one[1].strip(), other[1].strip())
        return WordSimilarity(value, value)
