"""Evaluation of word vectors: analogies by section, and correlation with human ratings of word pairs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config.parsing import parse_number
from regard.data.sources.lines import lines_hash, read_lines
from regard.errors import DataError
from regard.metrics.bootstrap import Numbers, Statistic, ratio
from regard.metrics.comparison import Score
from regard.metrics.regression import regression_statistics
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.tasks.data import EvalSet
from regard.tasks.declarations import ScoreTable
from regard.tasks.evaluation import Evaluation, finite
from regard.tasks.word_vectors.records import SectionRecord
from regard.tasks.word_vectors.settings import VectorEvaluationSettings

ANALOGIES = "analogies"
"""The name of the set of analogies."""
SYNTACTIC = "gram"
"""Prefix of the names of questions-words' syntactic sections."""
COSINES = 2**25
"""Cosines that are in memory at once."""
NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
"""Spellings of a missing number."""


Questions = dict[str, list[tuple[str, str, str, str]]]
RatedPairs = list[tuple[str, str, float]]
NO_ANSWER = ""
"""The line of a question or pair with a word that has no vector."""


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


def read_rated_pairs(path: Path) -> RatedPairs:
    """Return pairs of words and their ratings: three columns with tabs, commas, semicolons or spaces."""
    pairs: RatedPairs = []
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


def word_sets(files: VectorEvaluationSettings) -> dict[str, EvalSet]:
    """Return the analogies and the rated pairs in files as sets to score on."""
    analogies = [] if files.analogies is None else [EvalSet(ANALOGIES, read_questions(Path(files.analogies)))]
    pairs = [EvalSet(path, read_rated_pairs(Path(path))) for path in files.similarities]
    return {chosen.name: chosen for chosen in [*analogies, *pairs]}


def set_hashes(chosen: EvalSet) -> dict[str, Any]:
    """Return the hash of the words asked for, and that of the true answers or ratings."""
    if isinstance(chosen.rows, dict):
        rows = [(f"{name} {' '.join(each[:3])}", each[3]) for name, some in chosen.rows.items() for each in some]
    else:
        rows = [(f"{one} {other}", repr(rating)) for one, other, rating in chosen.rows]
    return {"sources": lines_hash(row[0] for row in rows), "references": [lines_hash(row[1] for row in rows)]}


def evaluate_words(
    vectors: WordVectors, chosen: EvalSet, candidates: int | None = None, progress: Progress = SILENT
) -> Evaluation:
    """Return the accuracy on analogies by cosine among the first `candidates` words, or the correlation with ratings.

    A question or pair with a word that has no vector is not covered, and left out of the metrics.
    """
    is_analogies = isinstance(chosen.rows, dict)
    if is_analogies:
        lines = _answers(vectors, chosen.rows, candidates, progress)
    else:
        numbers = [(vectors.find(one), vectors.find(other)) for one, other, _ in chosen.rows]
        table = vectors.directions
        lines = [NO_ANSWER if a is None or b is None else repr(float(table[a] @ table[b])) for a, b in numbers]
    statistics, covered = word_statistics(chosen, lines), len(lines) - lines.count(NO_ANSWER)
    everything = np.ones(len(lines))
    values = {key: finite(statistic(everything)) for key, statistic in statistics.items()}
    main = {"accuracy": "accuracy"} if is_analogies else {"spearman": "Spearman", "pearson": "Pearson"}
    unit = "questions" if is_analogies else "pairs"
    among = {"candidates": len(vectors.words[:candidates])} if is_analogies else {}
    return Evaluation(
        chosen.name,
        {unit: len(lines), "covered": covered} | values,
        tuple(Score(label, values[key], "cosine", key) for key, label in main.items()),
        tuple(lines),
        statistics,
        hashes=set_hashes(chosen),
        details={"sections": _sections(chosen.rows, lines)} if is_analogies else {},
        decode=among,
        decode_defaults={"candidates": len(vectors.words)} if is_analogies else {},
    )


def word_statistics(chosen: EvalSet, lines: Sequence[str]) -> dict[str, Statistic]:
    """Return the metrics of predicted words or cosines as functions of how often each question or pair counts."""
    rows = [each for some in chosen.rows.values() for each in some] if isinstance(chosen.rows, dict) else chosen.rows
    if len(lines) != len(rows):
        raise DataError(f"{len(lines):,} lines, but {chosen.name} has {len(rows):,} rows; give a line for each.")
    covered = np.array([line != NO_ANSWER for line in lines], float)
    if isinstance(chosen.rows, dict):
        right = np.array([line == each[3] for line, each in zip(lines, rows, strict=True)], float)
        return {"accuracy": ratio(right * covered, covered)}
    numbers = [parse_number(line) if line != NO_ANSWER else 0.0 for line in lines]
    if None in numbers:
        raise DataError(f"its lines are not cosines of the pairs of {chosen.name}; name a passport.")
    statistics = regression_statistics([rating for *_, rating in rows], [each or 0.0 for each in numbers])
    return {name: _over(covered, statistics[name]) for name in ("spearman", "pearson")}


def _over(covered: Numbers, statistic: Statistic) -> Statistic:
    """Return a metric over covered rows; not a number where fewer than two are."""
    return lambda counts: statistic(counts * covered) if float(counts @ covered) >= 2 else float("nan")


def _answers(vectors: WordVectors, questions: Questions, candidates: int | None, progress: Progress) -> list[str]:
    """Return the predicted word of each question, as the expected one is written where it is that."""
    table, lines = vectors.directions[:candidates], list[str]()
    with progress.bar("analogies", None) as bar:
        for asked in questions.values():
            numbers = [[vectors.find(word) for word in each] for each in asked]
            is_covered = [all(n is not None and n < len(table) for n in each) for each in numbers]
            covered = [each for each, known in zip(numbers, is_covered, strict=True) if known]
            nearest = iter(_nearest(table, np.array(covered, np.int64).reshape(-1, 4)).tolist())
            for each, known, (*_, expected) in zip(asked, is_covered, numbers, strict=True):
                predicted = next(nearest) if known else None
                word = NO_ANSWER if predicted is None else vectors.words[predicted]
                lines.append(each[3] if known and predicted == expected else word)
            bar.advance(len(asked))
    return lines


def _nearest(table: NDArray[np.float32], questions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the word nearest to the second less the first plus the third of each question (N, 4)."""
    step, nearest = max(1, COSINES // max(1, len(table))), [np.zeros(0, np.int64)]
    for begin in range(0, len(questions), step):
        a, b, c, _ = questions[begin : begin + step].T
        values = (table[b] - table[a] + table[c]) @ table.T
        for given in (a, b, c):
            values[np.arange(len(given)), given] = -np.inf
        nearest.append(values.argmax(1))
    return np.concatenate(nearest)


def _sections(questions: Questions, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return questions, covered ones and accuracy of each section, then of the semantic and the syntactic ones."""
    rows, answers = list[tuple[str, int, int, int]](), iter(lines)
    for name, some in questions.items():
        given = [(next(answers), each[3]) for each in some]
        covered = [pair for pair in given if pair[0] != NO_ANSWER]
        rows.append((name, len(given), len(covered), sum(one == other for one, other in covered)))
    for name, is_syntactic in (("semantic", False), ("syntactic", True)):
        parts = [row[1:] for row in rows[: len(questions)] if row[0].startswith(SYNTACTIC) == is_syntactic]
        if parts:
            asked, known, right = (sum(column) for column in zip(*parts, strict=True))
            rows.append((name, asked, known, right))
    return [
        {"name": name, "questions": asked, "covered": known, "accuracy": right / known if known else None}
        for name, asked, known, right in rows
    ]


def section_table(name: str, sections: Sequence[SectionRecord]) -> list[ScoreTable]:
    """Return a table with a row for each section that has questions; none without analogies."""
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
    return [ScoreTable(f"{name} by section", ("section", "questions", "covered", "accuracy"), rows)] if rows else []
