"""Evaluation of word vectors: analogies by section, and correlation with human ratings of word pairs."""

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
from regard.metrics.regression import regression_scores
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.tasks.declarations import ScoreTable
from regard.tasks.word_vectors.records import AnalogiesRecord, SimilarityRecord

SYNTACTIC = "gram"
"""Prefix of the names of questions-words' syntactic sections."""
COSINES = 2**25
"""Cosines that are in memory at once."""
NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
"""Spellings of a missing number."""


@dataclass(frozen=True)
class Section:
    """Analogies of one kind: all questions, those whose words have vectors, and the correct ones."""

    name: str
    questions: int
    covered: int
    right: int

    @property
    def accuracy(self) -> float | None:
        """The accuracy on covered questions; None where there are none."""
        return self.right / self.covered if self.covered else None


@dataclass(frozen=True)
class Analogies:
    """The results of a file of analogies, by section and in total."""

    path: str
    sections: tuple[Section, ...]
    total: Section
    semantic: Section
    syntactic: Section


@dataclass(frozen=True)
class Similarities:
    """The correlation of a file's ratings with cosines; None where too few pairs have vectors."""

    path: str
    pairs: int
    covered: int
    spearman: float | None
    pearson: float | None


def plain_analogies(analogies: Analogies) -> dict[str, Any]:
    """Return the results as plain values, accuracies included."""
    parts = {name: _plain_section(getattr(analogies, name)) for name in ("total", "semantic", "syntactic")}
    return {"path": analogies.path, "sections": [_plain_section(each) for each in analogies.sections], **parts}


def _plain_section(section: Section) -> dict[str, Any]:
    return asdict(section) | {"accuracy": section.accuracy}


Questions = dict[str, list[tuple[str, str, str, str]]]


def read_questions(path: Path) -> Questions:
    """Return the questions of a file such as questions-words, by section: four words a line, `: NAME` before each."""
    questions: Questions = {}
    name = "all"
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if line.startswith(":"):
            name = line.removeprefix(":").strip() or name
        elif len(words) == 4:
            questions.setdefault(name, []).append((words[0], words[1], words[2], words[3]))
        elif words:
            raise DataError(f"{path}: line {number:,} has {len(words)} words, but an analogy has four; correct it.")
    if not questions:
        raise DataError(f"{path}: there are no analogies in it; give lines of four words, as questions-words has.")
    return questions


def read_rated_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Return pairs of words and their ratings: three columns with tabs, commas, semicolons or spaces."""
    pairs: list[tuple[str, str, float]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in re.split(r"[\t,;]", line)]
        parts = parts if len(parts) >= 3 else line.split()
        rating = parse_number(parts[2]) if len(parts) > 2 else None
        if rating is not None:
            pairs.append((parts[0], parts[1], rating))
        elif number > 1 or NO_NUMBER.fullmatch(parts[-1]):  # the first line may be a header
            raise DataError(f"{path}: line {number:,} is not two words and a number; correct it, or leave it out.")
    if not pairs:
        raise DataError(f"{path}: there are no rated pairs in it; give lines of two words and a number.")
    return pairs


def score_analogies(
    vectors: WordVectors, path: Path, candidates: int | None = None, progress: Progress = SILENT
) -> Analogies:
    """Return the accuracy on a file of analogies by cosine, among the first `candidates` words (default: all)."""
    table = vectors.directions[:candidates]
    sections = []
    with progress.bar("analogies", None) as bar:
        for name, questions in read_questions(path).items():
            numbers = [[vectors.find(word) for word in each] for each in questions]
            covered = [each for each in numbers if all(n is not None and n < len(table) for n in each)]
            correct = _correct(table, np.array(covered, np.int64).reshape(-1, 4))
            sections.append(Section(name, len(questions), len(covered), correct))
            bar.advance(len(questions))
    grammar = [each for each in sections if each.name.startswith(SYNTACTIC)]
    meaning = [each for each in sections if not each.name.startswith(SYNTACTIC)]
    together = [_sum("all", sections), _sum("semantic", meaning), _sum("syntactic", grammar)]
    return Analogies(str(path), tuple(sections), *together)


def _sum(name: str, sections: Sequence[Section]) -> Section:
    return Section(
        name, *(sum(getattr(each, part) for each in sections) for part in ("questions", "covered", "right"))
    )


def _correct(table: NDArray[np.float32], questions: NDArray[np.int64]) -> int:
    """Count the questions (N, 4) whose fourth word is nearest to the second less the first plus the third."""
    correct = 0
    step = max(1, COSINES // max(1, len(table)))
    for begin in range(0, len(questions), step):
        a, b, c, expected = questions[begin : begin + step].T
        values = (table[b] - table[a] + table[c]) @ table.T
        for given in (a, b, c):
            values[np.arange(len(given)), given] = -np.inf
        correct += int((values.argmax(1) == expected).sum())
    return correct


def score_similarities(vectors: WordVectors, path: Path) -> Similarities:
    """Return the correlation of ratings with cosines; pairs with a word that has no vector are left out."""
    pairs = read_rated_pairs(path)
    numbers = [(vectors.find(one), vectors.find(other), value) for one, other, value in pairs]
    known = [(one, other, value) for one, other, value in numbers if one is not None and other is not None]
    if len(known) < 2:
        return Similarities(str(path), len(pairs), len(known), None, None)
    table = vectors.directions
    cosines = [float(table[one] @ table[other]) for one, other, _ in known]
    scores = regression_scores([value for *_, value in known], cosines)
    return Similarities(str(path), len(pairs), len(known), scores.spearman, scores.pearson)


def analogy_table(analogies: AnalogiesRecord | None) -> list[ScoreTable]:
    """Return a table with a row for each section that has questions, and the totals last; none without analogies."""
    if analogies is None:
        return []
    sections = [*analogies.sections, analogies.semantic, analogies.syntactic, analogies.total]
    rows = [
        (
            each.name,
            f"{each.questions:,}",
            f"{each.covered:,}",
            "-" if each.accuracy is None else f"{100 * each.accuracy:.1f} %",
        )
        for each in sections
        if each.questions
    ]
    return [ScoreTable("", (f"analogies ({Path(analogies.path).name})", "questions", "covered", "accuracy"), rows)]


def similarity_table(similarities: Sequence[SimilarityRecord]) -> list[ScoreTable]:
    """Return a table with a row for each file of rated pairs; none without any."""
    rows = [
        (
            Path(each.path).name,
            f"{each.pairs:,}",
            f"{each.covered:,}",
            *("-" if value is None else f"{value:.3f}" for value in (each.spearman, each.pearson)),
        )
        for each in similarities
    ]
    return [ScoreTable("", ("rated pairs", "pairs", "covered", "Spearman", "Pearson"), rows)] if rows else []
