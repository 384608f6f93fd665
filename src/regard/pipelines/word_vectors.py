"""Word vector queries: nearest neighbors, similarity, analogies and outliers."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from regard import registry
from regard.config.schema import Doc
from regard.errors import CheckpointError, ConfigError, DataError
from regard.interop.word_vector_files import VectorTable, read_word_vectors
from regard.pipelines.base import Pipeline, Plain, Result
from regard.pipelines.inputs import check_text
from regard.pipelines.word_settings import Metric, NeighborOptions
from regard.progress import SILENT, Progress

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle

Vectors = NDArray[np.float32]
NAME = "the vectors"
"""The name in messages of vectors that came from no path."""
SUGGESTED_FROM = 20_000
"""Most frequent words that are compared with an unknown one for a suggestion."""


@dataclass(frozen=True)
class Neighbor:
    """A word with its cosine or dot product (larger is nearer), or distance (smaller is nearer)."""

    word: str
    value: float


@dataclass(frozen=True)
class WordRow:
    """A word."""

    word: Annotated[str, Doc("The word.")]


@dataclass(frozen=True)
class Neighbors(Result):
    """The words nearest to a word, nearest first, without itself."""

    row: WordRow
    nearest: Annotated[tuple[Neighbor, ...], Doc("The words, nearest first.")]

    columns = ("neighbors",)

    @property
    def neighbors(self) -> tuple[str, ...]:
        """The words, nearest first."""
        return tuple(each.word for each in self.nearest)

    @property
    def text(self) -> str:
        """The words, nearest first, separated by spaces."""
        return " ".join(self.neighbors)

    def lines(self) -> list[str]:
        """Return a line for each neighbor: the word, the neighbor, and its similarity or distance."""
        return [f"{self.row.word}\t{each.word}\t{each.value:.4f}" for each in self.nearest]


class WordVectors(Pipeline[WordRow, NeighborOptions, Neighbors]):
    """Static word vectors: one per word, whatever the context; a call lists nearest neighbors."""

    row = WordRow
    inputs = ("word",)
    options_class = NeighborOptions

    def __init__(self, words: Sequence[str], vectors: Vectors, name: str = "") -> None:
        if len(words) != len(vectors):
            raise DataError(f"{name or NAME}: {len(words):,} words do not match {len(vectors):,} vectors.")
        self.words, self.vectors, self.origin = list(words), np.ascontiguousarray(vectors, np.float32), name
        self.index = {word: number for number, word in enumerate(self.words)}
        self.task = registry.task_of_model("word-vectors")

    @property
    def name(self) -> str:
        """The path they were loaded from, as messages name them."""
        return self.origin or NAME

    def check(self, row: WordRow, options: NeighborOptions, where: str) -> None:
        """Refuse what is not a word, and one without a vector."""
        check_text(row.word, where)
        self.number(row.word)

    def predict(
        self, rows: Sequence[WordRow], options: NeighborOptions, progress: Progress = SILENT
    ) -> list[Neighbors]:
        """Return the nearest neighbors of each word."""
        chosen = options.top, options.metric, options.exclude
        return [Neighbors(row, tuple(self.neighbors(row.word, *chosen))) for row in rows]

    @classmethod
    def of_bundle(cls, bundle: "Bundle") -> "WordVectors":
        """Return the vectors of a trained model."""
        words = bundle.tokenizers["tokenizer"].vocabulary
        table = bundle.model.words.weight.detach().float().cpu().numpy()
        return cls([words[number] for number in range(len(table))], table)

    @classmethod
    def of_file(cls, path: Path, first: int | None = None, progress: Progress = SILENT) -> "WordVectors":
        """Return the vectors of a word2vec or GloVe file."""
        return cls(*read_word_vectors(path, first, progress), str(path))

    @property
    def columns(self) -> Plain:
        """No columns: there was no table."""
        return {}

    @property
    def entries(self) -> VectorTable:
        """Words and vectors, as written to files."""
        return VectorTable(self.words, self.vectors)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) is not None

    def __getitem__(self, word: str) -> Vectors:
        return self.vector(word)

    def __repr__(self) -> str:
        parts = (f"{len(self):,} words", f"{self.width} dimensions", *filter(None, (self.origin,)))
        return f"{type(self).__name__}({', '.join(parts)})"

    @cached_property
    def direction_lengths(self) -> Vectors:
        """The lengths of the normalized vectors: 1 but for rounding, 0 of zero vectors."""
        return np.linalg.norm(self.directions, axis=1)

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def directions(self) -> Vectors:
        """All vectors normalized to length 1; zero vectors stay zero."""
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return (self.vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def find(self, word: str) -> int | None:
        """Return the index of a word: as written, lowercased, or with _ for its spaces; None: unknown."""
        for form in (word, word.lower(), "_".join(word.split()), "_".join(word.lower().split())):
            if form in self.index:
                return self.index[form]
        return None

    def number(self, word: str) -> int:
        """Return the index of a word; an unknown one is refused."""
        if not isinstance(word, str):
            raise DataError(f"{self.name}: {word!r} is not a word; give it as text.")
        index = self.find(word)
        if index is not None:
            return index
        some = [each for each in self.words[:SUGGESTED_FROM] if abs(len(each) - len(word)) <= 2]
        near = difflib.get_close_matches(word.lower(), some, n=20, cutoff=0.75)
        ratio = lambda each: difflib.SequenceMatcher(None, each, word.lower()).ratio()
        # Ties: the most frequent word.
        best = max(sorted(near, key=self.index.__getitem__), key=ratio, default=None)
        way_out = f'did you mean "{best}"?' if best else f"it is not one of the {len(self):,} words there are."
        raise DataError(f'{self.name}: there is no vector for "{word}"; {way_out}')

    def vector(self, word: str) -> Vectors:
        """Return the vector of a word (D,)."""
        return self.vectors[self.number(word)]

    def similarity(self, one: str, other: str, metric: str = "cosine") -> float:
        """Return the similarity or distance of two words."""
        check_metric(metric)
        return float(self._values(self.vector(one), self.vectors[self.number(other)][None], metric)[0])

    def neighbors(
        self, word: str, top: int = 10, metric: str = "cosine", exclude: str | Iterable[str] = ()
    ) -> list[Neighbor]:
        """Return the words nearest to a word, best first, without itself and those excluded."""
        return self.near(self.vector(word), top, metric, [self.number(word), *self._known(exclude)])

    def analogy(
        self, a: str, b: str, c: str, top: int = 1, metric: str = "cosine", exclude: str | Iterable[str] = ()
    ) -> list[Neighbor]:
        """Return the words that are to `c` as `b` is to `a`, best first: nearest to b - a + c, without the three.

        For cosines the three are normalized first (Mikolov et al., 2013).
        """
        check_metric(metric)
        given = [self.number(word) for word in (a, b, c)]
        table = self.directions if metric == "cosine" else self.vectors
        excluded = [*given, *self._known(exclude)]
        return self.near(table[given[1]] - table[given[0]] + table[given[2]], top, metric, excluded)

    def _known(self, words: str | Iterable[str]) -> list[int]:
        """Return the indices of the words that have a vector; a string is one word."""
        given = [words] if isinstance(words, str) else words
        return [number for number in map(self.find, given) if number is not None]

    def odd_one_out(self, words: Sequence[str]) -> tuple[str, list[Neighbor]]:
        """Return the word least similar to the others, and the cosine of each with the mean direction."""
        if isinstance(words, str):
            raise ConfigError(f'"{words}" is one text; give the words as a list.')
        if len(words) < 3:
            raise ConfigError(f"{len(words)} words are too few to find the outlier; give three or more.")
        table = self.directions[[self.number(word) for word in words]]
        values = self._values(table.mean(0), table, "cosine")
        cosines = [Neighbor(word, float(value)) for word, value in zip(words, values, strict=True)]
        return min(cosines, key=lambda each: each.value).word, cosines

    def near(self, vector: Vectors, top: int, metric: str = "cosine", excluded: Sequence[int] = ()) -> list[Neighbor]:
        """Return the words nearest to a vector, best first; ties in the order of the table."""
        if top < 1:
            raise ConfigError(f"top: {top} is less than 1; ask for 1 or more words.")
        check_metric(metric)
        is_cosine = metric == "cosine"
        table, lengths = (self.directions, self.direction_lengths) if is_cosine else (self.vectors, None)
        values = self._values(vector, table, metric, lengths)
        order = values if metric == "euclidean" else -values
        order[list(excluded)] = np.inf
        count = min(top, len(order) - len(set(excluded)))
        if count <= 0:
            return []
        limit = np.partition(order, count - 1)[count - 1]
        candidates = np.flatnonzero(order <= limit)
        best = candidates[np.argsort(order[candidates], kind="stable")][:count]
        sign = 1.0 if metric == "euclidean" else -1.0
        return [Neighbor(self.words[index], sign * float(order[index])) for index in best]

    @staticmethod
    def _values(vector: Vectors, table: Vectors, metric: str, lengths: Vectors | None = None) -> Vectors:
        if metric == "euclidean":
            return np.linalg.norm(table - vector, axis=1)
        values = table @ vector
        if metric == "cosine":
            own = np.linalg.norm(table, axis=1) if lengths is None else lengths
            lengths = own * np.linalg.norm(vector)
            values = np.clip(values / np.where(lengths > 0, lengths, 1), -1, 1)
        return values


def check_metric(metric: Any) -> None:
    """Refuse an unknown metric."""
    if metric not in get_args(Metric):
        raise ConfigError(f'metric: "{metric}" is not one of {", ".join(get_args(Metric))}; choose one.')


def names_word_vectors(path: str) -> bool:
    """Return whether a path is a table of word vectors: a file, or a run that trained one."""
    from regard.checkpoint.bundle import read_config
    from regard.checkpoint.identity import HUGGING_FACE
    from regard.checkpoint.store import find_checkpoint
    from regard.models.families import family

    if path.startswith(HUGGING_FACE):
        return False
    if Path(path).is_file():
        return True
    try:
        return family(read_config(find_checkpoint(Path(path)))["model"]["family"]).kind == "word-vectors"
    except (CheckpointError, ConfigError, KeyError):
        return False


def load_word_vectors(path: str | Path, first: int | None = None, progress: Progress = SILENT) -> WordVectors:
    """Return the word vectors of a run or checkpoint, or of a file of word2vec or GloVe (its `first` rows alone)."""
    from regard.checkpoint.bundle import read_bundle, read_config
    from regard.checkpoint.store import find_checkpoint
    from regard.models.families import family

    if Path(path).is_file() or not Path(path).exists():
        return WordVectors.of_file(Path(path), first, progress)
    folder = find_checkpoint(Path(path))
    config = read_config(folder)
    if family(config["model"]["family"]).kind != "word-vectors":
        task = registry.task(config["task"])
        raise ConfigError(
            f"{path}: this is {task.wording.noun}, not a table of word vectors; use it with regard {task.verbs}."
        )
    vectors = WordVectors.of_bundle(read_bundle(folder))
    return WordVectors(vectors.words[:first], vectors.vectors[:first], str(path))
