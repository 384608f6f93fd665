"""Words: maps of vectors, neighbors, analogies as arrows, and one word in many sentences."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.pipelines.base import AnyPipeline
from regard.pipelines.encoder import Encoder
from regard.pipelines.pooling import word_positions
from regard.pipelines.word_vectors import WordVectors
from regard.studio.messages import Floats, ModelRequest, StudioMessage
from regard.tasks.word_vectors.map import project

Floats32 = NDArray[np.float32]
MOST = {"pca": 100_000, "tsne": 10_000}
"""Words of a map."""
MOST_SENTENCES = 200


class MapRequest(ModelRequest):
    """A number of words, the most frequent first, and how their vectors become points."""

    method: Literal["pca", "tsne"] = "pca"
    count: int = 5000


class MapView(StudioMessage):
    """Words and their points (N, 2), between 0 and 1."""

    words: list[str]
    points: Floats
    total: int
    width: int


class NeighborsRequest(ModelRequest):
    """A word."""

    word: str
    top: int = 12


class NearWord(StudioMessage):
    """A word and its cosine similarity."""

    word: str
    value: float


class NeighborsView(StudioMessage):
    """The word as it is in the table, and the nearest others."""

    word: str
    nearest: list[NearWord]


class AnalogyRequest(ModelRequest):
    """a is to b as c is to ...?"""

    a: str
    b: str
    c: str
    top: int = 6


class AnalogyView(StudioMessage):
    """The words nearest to b - a + c, and the points of a, b, c and the best answer in a plane of their own."""

    answers: list[NearWord]
    words: list[str]
    points: Floats


class OccurrencesRequest(ModelRequest):
    """A word, and sentences that contain it."""

    word: str
    sentences: list[str]
    layer: int = -1


class OccurrencesView(StudioMessage):
    """Points of the word: one for each sentence, and one for its row of the embedding matrix."""

    sentences: list[str]
    points: Floats
    static: Floats
    similarities: Floats
    """Cosine similarities (N, N) of the vectors in context."""


def _vectors(pipeline: AnyPipeline) -> WordVectors:
    if not isinstance(pipeline, WordVectors):
        raise ConfigError("words: this model is no table of word vectors; choose one.")
    return pipeline


def _scaled(points: Floats32) -> Floats32:
    """Return points between 0 and 1, one scale for both axes."""
    low, size = points.min(0), float(np.ptp(points, axis=0).max()) or 1.0
    return ((points - low) / size).astype(np.float32)


def principal_points(table: Floats32) -> Floats32:
    """Return the first two principal components (N, 2) of rows (N, D), from the D × D covariance: 100,000 rows in
    a second."""
    centered = table - table.mean(0)
    if centered.shape[1] < 2:
        return np.concatenate([centered, np.zeros_like(centered)], axis=1)
    _, directions = np.linalg.eigh(centered.T @ centered)
    axes = directions[:, ::-1][:, :2]
    signs = np.sign(axes[np.abs(axes).argmax(0), range(2)])
    return (centered @ (axes * signs)).astype(np.float32)


def show_map(pipeline: AnyPipeline, request: MapRequest) -> MapView:
    """Return the map of the most frequent words."""
    vectors, limit = _vectors(pipeline), MOST[request.method]
    count = min(request.count, len(vectors), limit)
    if count < 3:
        raise ConfigError("count: a map takes 3 or more words.")
    table = vectors.directions[:count]
    if not np.isfinite(table).all():
        raise DataError(f"{vectors.name}: a vector has a value that is not finite; train or load another table.")
    points = principal_points(table) if request.method == "pca" else project(table, "tsne").astype(np.float32)
    return MapView(
        words=vectors.words[:count], points=Floats.of(_scaled(points)), total=len(vectors), width=vectors.width
    )


def show_neighbors(pipeline: AnyPipeline, request: NeighborsRequest) -> NeighborsView:
    """Return the nearest neighbors of a word."""
    vectors = _vectors(pipeline)
    nearest = vectors.neighbors(request.word, max(1, min(request.top, 100)))
    word = vectors.words[vectors.number(request.word)]
    return NeighborsView(word=word, nearest=[NearWord(word=each.word, value=each.value) for each in nearest])


def show_analogy(pipeline: AnyPipeline, request: AnalogyRequest) -> AnalogyView:
    """Return the answers of an analogy, with points for its arrows."""
    vectors = _vectors(pipeline)
    answers = vectors.analogy(request.a, request.b, request.c, max(1, min(request.top, 50)))
    words = [vectors.words[vectors.number(word)] for word in (request.a, request.b, request.c)]
    words += [each.word for each in answers[:1]]
    points = principal_points(vectors.directions[[vectors.number(word) for word in words]])
    return AnalogyView(
        answers=[NearWord(word=each.word, value=each.value) for each in answers],
        words=words,
        points=Floats.of(_scaled(points)),
    )


def show_occurrences(pipeline: AnyPipeline, request: OccurrencesRequest) -> OccurrencesView:
    """Return the points of one word in several sentences."""
    if not isinstance(pipeline, Encoder):
        raise ConfigError("occurrences: vectors in context come from a text encoder such as BERT; choose one.")
    sentences = [each for each in request.sentences if each.strip()][:MOST_SENTENCES]
    if len(sentences) < 2:
        raise ConfigError("sentences: give two or more that contain the word.")
    encoded = pipeline.tokens(sentences, request.layer)
    rows = np.stack([each.vectors[word_positions(each, request.word)].mean(0) for each in encoded])
    ids = pipeline.tokenizer.encode(request.word).ids
    embedding = getattr(pipeline.model, "embedding", None)
    same = np.zeros((1, rows.shape[1]), np.float32)
    if embedding is not None and embedding.table.weight.size(1) == rows.shape[1]:
        same = embedding.table.weight.detach().float().cpu().numpy()[ids].mean(0, keepdims=True)
    points = _scaled(principal_points(np.concatenate([rows, same])))
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return OccurrencesView(
        sentences=sentences,
        points=Floats.of(points[:-1]),
        static=Floats.of(points[-1]),
        similarities=Floats.of(unit @ unit.T),
    )
