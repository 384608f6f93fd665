"""How good word vectors are: analogies by section, and what people say about how alike words are."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config.parsing import parse_number
from regard.data.sources.lines import read_lines
from regard.errors import DataError
from regard.metrics.regression import number_scores
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress

SYNTACTIC = "gram"
"""How the names of questions-words' sections about grammar begin."""
AT_ONCE = 2**25
"""Cosines that are held at once."""
NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
"""What other programs write where a number is missing."""


@dataclass(frozen=True)
class Section:
    """Analogies of one kind: all there are, those whose words have vectors, and those answered right."""

    name: str
    questions: int
    covered: int
    right: int

    @property
    def accuracy(self) -> float | None:
        """The share of covered questions that are answered right."""
        return self.right / self.covered if self.covered else None


@dataclass(frozen=True)
class Analogies:
    """The answers to a file of analogies; semantic, syntactic and all together stand behind the sections."""

    path: str
    sections: tuple[Section, ...]
    total: Section
    semantic: Section
    syntactic: Section


@dataclass(frozen=True)
class Similarities:
    """How the cosines of a file's pairs rise and fall with what people say; None where too few pairs have vectors."""

    path: str
    pairs: int
    covered: int
    spearman: float | None
    pearson: float | None


def plain_analogies(found: Analogies) -> dict[str, Any]:
    """Return the answers as plain values, accuracies included."""
    parts = {name: _plain_section(getattr(found, name)) for name in ("total", "semantic", "syntactic")}
    return {"path": found.path, "sections": [_plain_section(each) for each in found.sections], **parts}


def _plain_section(section: Section) -> dict[str, Any]:
    return asdict(section) | {"accuracy": section.accuracy}


Questions = dict[str, list[tuple[str, str, str, str]]]


def read_questions(path: Path) -> Questions:
    """Return the questions of a file such as questions-words, by section: four words a line, `: NAME` before each."""
    found: Questions = {}
    name = "all"
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if line.startswith(":"):
            name = line.removeprefix(":").strip() or name
        elif len(words) == 4:
            found.setdefault(name, []).append((words[0], words[1], words[2], words[3]))
        elif words:
            raise DataError(f"{path}: line {number:,} has {len(words)} words, but an analogy has four; mend it.")
    if not found:
        raise DataError(f"{path}: there are no analogies in it; give lines of four words, as questions-words has.")
    return found


def read_rated_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Return pairs of words and how alike people find them: three columns with tabs, commas, semicolons or spaces."""
    found: list[tuple[str, str, float]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in re.split(r"[\t,;]", line)]
        parts = parts if len(parts) >= 3 else line.split()
        rating = parse_number(parts[2]) if len(parts) > 2 else None
        if rating is not None:
            found.append((parts[0], parts[1], rating))
        elif number > 1 or NO_NUMBER.fullmatch(parts[-1]):  # the first line may be a header
            raise DataError(f"{path}: line {number:,} is not two words and a number; mend it, or leave it out.")
    if not found:
        raise DataError(f"{path}: there are no rated pairs in it; give lines of two words and a number.")
    return found


def score_analogies(
    vectors: WordVectors, path: Path, candidates: int | None = None, progress: Progress = SILENT
) -> Analogies:
    """Answer a file of analogies by the cosine; of the `candidates` first words of the table, unset: of all."""
    table = vectors.directions[:candidates]
    sections = []
    with progress.bar("analogies", None) as bar:
        for name, questions in read_questions(path).items():
            numbers = [[vectors.find(word) for word in each] for each in questions]
            covered = [each for each in numbers if all(n is not None and n < len(table) for n in each)]
            right = _right(table, np.array(covered, np.int64).reshape(-1, 4))
            sections.append(Section(name, len(questions), len(covered), right))
            bar.advance(len(questions))
    grammar = [each for each in sections if each.name.startswith(SYNTACTIC)]
    meaning = [each for each in sections if not each.name.startswith(SYNTACTIC)]
    together = [_sum("all", sections), _sum("semantic", meaning), _sum("syntactic", grammar)]
    return Analogies(str(path), tuple(sections), *together)


def _sum(name: str, sections: Sequence[Section]) -> Section:
    return Section(
        name, *(sum(getattr(each, part) for each in sections) for part in ("questions", "covered", "right"))
    )


def _right(table: NDArray[np.float32], questions: NDArray[np.int64]) -> int:
    """Count the questions (N, 4) whose fourth word is nearest to the second less the first plus the third."""
    right = 0
    step = max(1, AT_ONCE // max(1, len(table)))
    for begin in range(0, len(questions), step):
        a, b, c, wanted = questions[begin : begin + step].T
        values = (table[b] - table[a] + table[c]) @ table.T
        for given in (a, b, c):
            values[np.arange(len(given)), given] = -np.inf
        right += int((values.argmax(1) == wanted).sum())
    return right


def score_similarities(vectors: WordVectors, path: Path) -> Similarities:
    """Compare the cosines of pairs with what people say; pairs with a word that has no vector are left out."""
    pairs = read_rated_pairs(path)
    numbers = [(vectors.find(one), vectors.find(other), value) for one, other, value in pairs]
    known = [(one, other, value) for one, other, value in numbers if one is not None and other is not None]
    if len(known) < 2:
        return Similarities(str(path), len(pairs), len(known), None, None)
    table = vectors.directions
    cosines = [float(table[one] @ table[other]) for one, other, _ in known]
    scores = number_scores([value for *_, value in known], cosines)
    return Similarities(str(path), len(pairs), len(known), scores.spearman, scores.pearson)


def analogy_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row a section that has questions: name, questions, covered and right, and the sums behind."""
    parts = [*found["sections"], *(found[name] for name in ("semantic", "syntactic", "total"))]
    return [
        (
            each["name"],
            f"{each['questions']:,}",
            f"{each['covered']:,}",
            "-" if each["accuracy"] is None else f"{100 * each['accuracy']:.1f} %",
        )
        for each in parts
        if each["questions"]
    ]


def rating_rows(found: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return a row a file of rated pairs: name, pairs, covered, Spearman and Pearson."""
    return [
        (
            Path(each["path"]).name,
            f"{each['pairs']:,}",
            f"{each['covered']:,}",
            *("-" if each[name] is None else f"{each[name]:.3f}" for name in ("spearman", "pearson")),
        )
        for each in found
    ]
