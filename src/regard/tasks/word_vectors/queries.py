"""Questions to word vectors, each answered for one group of words: neighbors, similarity, analogies, outliers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.config.settings import Settings
from regard.pipelines.word_settings import AnalogyOptions, MetricOptions, NeighborOptions

if TYPE_CHECKING:
    from regard.pipelines.word_vectors import Neighbor, WordVectors

Answer = tuple[dict[str, Any], list[str]]
"""The values of an answer, and what its lines have after the words of the query."""


@dataclass(frozen=True)
class Query:
    """A question to word vectors: its verb, the number of its words (None: any), and its options."""

    name: str
    summary: str
    size: int | None
    options: type[Settings]
    answer: Callable[["WordVectors", list[str], Any], Answer]


def _nearest(words: "Sequence[Neighbor]") -> Answer:
    return {"nearest": words}, [f"{each.word}\t{each.value:.4f}" for each in words]


def _neighbors(vectors: "WordVectors", words: list[str], chosen: NeighborOptions) -> Answer:
    return _nearest(vectors.neighbors(words[0], chosen.top, chosen.metric, chosen.exclude))


def _analogy(vectors: "WordVectors", words: list[str], chosen: NeighborOptions) -> Answer:
    a, b, c = words
    return _nearest(vectors.analogy(a, b, c, chosen.top, chosen.metric, chosen.exclude))


def _similarity(vectors: "WordVectors", words: list[str], chosen: MetricOptions) -> Answer:
    value = vectors.similarity(words[0], words[1], chosen.metric)
    return {"metric": chosen.metric, "value": value}, [f"{value:.4f}"]


def _odd_one_out(vectors: "WordVectors", words: list[str], chosen: Settings) -> Answer:
    outlier, values = vectors.odd_one_out(words)
    return {"odd": outlier, "values": values}, [outlier]


QUERIES = (
    Query(
        "neighbors",
        "List the nearest neighbors of each word, nearest first.",
        1,
        NeighborOptions,
        lambda vectors, words, chosen: _nearest(
            vectors.neighbors(words[0], chosen.top, chosen.metric, chosen.exclude)
        ),
    ),
    Query(
        "similarity",
        "Compute the similarity (cosine, dot) or distance (euclidean) of two words.",
        2,
        MetricOptions,
        _similarity,
    ),
    Query(
        "analogy",
        "Solve an analogy: `man woman king` (man is to woman as king is to ...) gives queen.",
        3,
        AnalogyOptions,
        _analogy,
    ),
    Query(
        "odd-one-out",
        "Find the outlier: the word with the lowest similarity to the others.",
        None,
        Settings,
        _odd_one_out,
    ),
)
