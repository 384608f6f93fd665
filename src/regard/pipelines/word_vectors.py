"""Word vectors: which words are near a word, how alike two are, analogies, and the one that does not belong."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regard import registry
from regard.checkpoint.bundle import Bundle, read_bundle, read_config
from regard.checkpoint.identity import HUGGING_FACE
from regard.checkpoint.store import find_checkpoint
from regard.errors import CheckpointError, ConfigError, DataError
from regard.interop.word_vector_files import VectorTable, read_word_vectors
from regard.models.families import family
from regard.progress import SILENT, Progress

Vectors = NDArray[np.float32]
Metric = Literal["cosine", "dot", "euclidean"]
"""The cosine of the angle between two vectors, their product, or how far apart they are."""

LOOKED_THROUGH = 20_000
"""Words that a misspelt one is compared with at most, the most frequent ones."""


@dataclass(frozen=True)
class Neighbor:
    """A word and how near it is: a cosine or product (large is near), or a distance (small is near)."""

    word: str
    value: float


class WordVectors:
    """A vector for each word; whatever the text, a word has one."""

    def __init__(self, words: Sequence[str], vectors: Vectors, name: str = "the vectors") -> None:
        if len(words) != len(vectors):
            raise DataError(f"{name}: {len(words):,} words do not go with {len(vectors):,} vectors.")
        self.words, self.vectors, self.name = list(words), np.ascontiguousarray(vectors, np.float32), name
        self.index = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of_bundle(cls, bundle: Bundle) -> "WordVectors":
        """Return the vectors that a run has learned."""
        pieces = bundle.tokenizers["tokenizer"].vocabulary
        table = bundle.model.words.weight.detach().float().cpu().numpy()
        return cls([pieces[number] for number in range(len(table))], table)

    @classmethod
    def of_file(cls, path: Path, first: int | None = None, progress: Progress = SILENT) -> "WordVectors":
        """Return the vectors in a file of word2vec or GloVe."""
        return cls(*read_word_vectors(path, first, progress), str(path))

    @property
    def table(self) -> VectorTable:
        """Words and vectors, for files."""
        return VectorTable(self.words, self.vectors)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) is not None

    def __getitem__(self, word: str) -> Vectors:
        return self.vector(word)

    def __repr__(self) -> str:
        return f"<{len(self):,} word vectors of {self.width} numbers: {self.name}>"

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    @cached_property
    def directions(self) -> Vectors:
        """Every vector at length one; one of nothing but zeros stays so."""
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return (self.vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def find(self, word: str) -> int | None:
        """Return the number of a word: as it is written, in small letters, or with _ for its spaces."""
        for form in (word, word.lower(), "_".join(word.split()), "_".join(word.lower().split())):
            if form in self.index:
                return self.index[form]
        return None

    def number(self, word: str) -> int:
        """Return the number of a word, and refuse one that is not there."""
        if not isinstance(word, str):
            raise DataError(f"{self.name}: {word!r} is no word; give it as text.")
        found = self.find(word)
        if found is not None:
            return found
        some = [each for each in self.words[:LOOKED_THROUGH] if abs(len(each) - len(word)) <= 2]
        near = difflib.get_close_matches(word.lower(), some, n=20, cutoff=0.75)
        alike = lambda each: difflib.SequenceMatcher(None, each, word.lower()).ratio()
        # Of words that are as near the most frequent one is likeliest to be meant.
        best = max(sorted(near, key=self.index.__getitem__), key=alike, default=None)
        way_out = f'did you mean "{best}"?' if best else f"it is not one of the {len(self):,} words there are."
        raise DataError(f'{self.name}: there is no vector for "{word}"; {way_out}')

    def vector(self, word: str) -> Vectors:
        """Return the vector of a word (D,)."""
        return self.vectors[self.number(word)]

    def similarity(self, one: str, other: str, metric: str = "cosine") -> float:
        """Return how alike two words are, or how far apart."""
        check_metric(metric)
        return float(self._values(self.vector(one), self.vectors[self.number(other)][None], metric)[0])

    def neighbors(
        self, word: str, top: int = 10, metric: str = "cosine", exclude: str | Iterable[str] = ()
    ) -> list[Neighbor]:
        """Return the words nearest to a word, best first; it is none of them, nor are those excluded."""
        return self.near(self.vector(word), top, metric, [self.number(word), *self._known(exclude)])

    def analogy(
        self, a: str, b: str, c: str, top: int = 1, metric: str = "cosine", exclude: str | Iterable[str] = ()
    ) -> list[Neighbor]:
        """Return what is to `c` as `b` is to `a`, best first: near b - a + c, and none of the three.

        For cosines the three count alike, whatever their lengths (Mikolov et al., 2013).
        """
        check_metric(metric)
        given = [self.number(word) for word in (a, b, c)]
        table = self.directions if metric == "cosine" else self.vectors
        but = [*given, *self._known(exclude)]
        return self.near(table[given[1]] - table[given[0]] + table[given[2]], top, metric, but)

    def _known(self, words: str | Iterable[str]) -> list[int]:
        """Return the numbers of those words that have a vector; a text is one word, and not its letters."""
        given = [words] if isinstance(words, str) else words
        return [number for number in map(self.find, given) if number is not None]

    def odd_one_out(self, words: Sequence[str]) -> tuple[str, list[Neighbor]]:
        """Return the word least like the others, and for each the cosine with the mean direction of all."""
        if isinstance(words, str):
            raise ConfigError(f'"{words}" is one text; give the words as a list.')
        if len(words) < 3:
            raise ConfigError(f"{len(words)} words have no odd one among them; give three or more.")
        table = self.directions[[self.number(word) for word in words]]
        values = self._values(table.mean(0), table, "cosine")
        found = [Neighbor(word, float(value)) for word, value in zip(words, values, strict=True)]
        return min(found, key=lambda each: each.value).word, found

    def near(self, vector: Vectors, top: int, metric: str = "cosine", but: Sequence[int] = ()) -> list[Neighbor]:
        """Return the words nearest to a vector, best first; of equals the first in the table."""
        if top < 1:
            raise ConfigError(f"top: {top} words are none; ask for 1 or more.")
        check_metric(metric)
        values = self._values(vector, self.directions if metric == "cosine" else self.vectors, metric)
        order = values if metric == "euclidean" else -values
        order[list(but)] = np.inf
        count = min(top, len(order) - len(set(but)))
        if count <= 0:
            return []
        limit = np.partition(order, count - 1)[count - 1]
        candidates = np.flatnonzero(order <= limit)
        best = candidates[np.argsort(order[candidates], kind="stable")][:count]
        sign = 1.0 if metric == "euclidean" else -1.0
        return [Neighbor(self.words[place], sign * float(order[place])) for place in best]

    @staticmethod
    def _values(vector: Vectors, table: Vectors, metric: str) -> Vectors:
        if metric == "euclidean":
            return np.linalg.norm(table - vector, axis=1)
        found = table @ vector
        if metric == "cosine":
            lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(vector)
            found = np.clip(found / np.where(lengths > 0, lengths, 1), -1, 1)
        return found


def check_metric(metric: Any) -> None:
    """Refuse a metric that there is none of."""
    if metric not in get_args(Metric):
        raise ConfigError(f'metric: "{metric}" is not one of {", ".join(get_args(Metric))}; choose one.')


def names_word_vectors(path: str) -> bool:
    """Return whether a path is a table of word vectors: a file, or a run that trained one."""
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
    vectors.name = str(path)
    return vectors if first is None else WordVectors(vectors.words[:first], vectors.vectors[:first], vectors.name)
