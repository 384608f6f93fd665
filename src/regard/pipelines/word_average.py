"""Texts by the vectors of their words, which are the same in every text: what `Encoder` is compared with."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.errors import ConfigError, DataError
from regard.pipelines.encoder_results import Vectors, WordSimilarity
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.text.word_vocabulary import WordSettings, splitter


class WordAverageEncoder:
    """Answers as a text encoder does, with the mean of the vectors of a text's words."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors
        self.split = splitter(WordSettings(lowercase=False))  # a word is found in small letters too

    def embed(
        self,
        texts: Sequence[str],
        pooling: str | None = None,
        layer: int = -1,
        is_normalized: bool = False,
        *,
        progress: Progress = SILENT,
    ) -> Vectors:
        """Return the vectors of texts (N, D): the mean, or the largest values, of their words'; zeros without any."""
        if layer not in (-1, 0):
            raise ConfigError(f"layer: {layer} is none of a table of word vectors, which has one; leave it out.")
        if pooling not in (None, "mean", "max"):
            raise ConfigError(f'pooling: "{pooling}" is for text encoders; word vectors take mean or max.')
        rows = [[n for n in map(self.vectors.find, self.split(text)) if n is not None] for text in texts]
        empty = sum(not row for row in rows)
        if empty:
            texts = f"{empty:,} of {len(rows):,} texts" if len(rows) != 1 else "The text"
            verbs = ("holds", "is") if empty == 1 else ("hold", "are")
            progress.warn(f"{texts} {verbs[0]} no word with a vector, and {verbs[1]} like nothing.")
        table, width = self.vectors.vectors, self.vectors.width
        pool = np.max if pooling == "max" else np.mean
        found = [pool(table[row], axis=0) if row else np.zeros(width, np.float32) for row in rows]
        vectors = np.array(found, np.float32).reshape(len(rows), width)
        if not is_normalized:
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def similar(self, one: Sequence[str], other: Sequence[str], **settings: Any) -> Vectors:
        """Return the cosines between all of some texts and all of others (N, M)."""
        vectors = self.embed([*one, *other], **(settings | {"is_normalized": True}))
        return vectors[: len(one)] @ vectors[len(one) :].T

    def similar_words(self, one: tuple[str, str], other: tuple[str, str], layer: int = -1) -> WordSimilarity:
        """Return how alike a word of one text and a word of another are: their texts change nothing."""
        for text, word in (one, other):
            if not word.strip() or not re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", text, re.IGNORECASE):
                raise DataError(f'There is no word "{word}" in "{text}"; name one that is.')
        value = self.vectors.similarity(one[1].strip(), other[1].strip())
        return WordSimilarity(value, value)
