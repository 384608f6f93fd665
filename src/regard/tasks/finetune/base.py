"""What a task of fine-tuning is made of: how its examples are read, encoded, answered and scored."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.sources.lines import lines_hash
from regard.metrics.bootstrap import Statistic
from regard.models.heads import HeadSettings
from regard.pipelines.head_scores import Encoded, Scores, head_outputs
from regard.progress import SILENT, Progress

E = TypeVar("E")
Facts = Mapping[str, Any]


class EncodedRows(Encoded, Protocol):
    """Examples as ids, to learn from."""

    @property
    def is_truncated(self) -> Any:
        """Which examples were too long to be read whole."""

    def fingerprint(self) -> str:
        """Return a hash of all ids and labels."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer: the texts, what was right, what was said, and how sure the model was, where it says so."""

    texts: list[str]
    label: str
    said: str
    probability: float | None


@dataclass(frozen=True)
class Answers:
    """What a model said of some examples: one line each, as a passport keeps it, how sure it was, and its loss."""

    lines: list[str]
    confidence: list[float]
    loss: float
    further: Any = None
    """What figures of one task alone need."""


@dataclass(frozen=True)
class ScoreName:
    """A figure that a set is known by: its name among the figures, what people call it, and how it is computed."""

    figure: str
    words: str
    rule: str = ""


class HeadTask(ABC, Generic[E]):
    """Examples of one kind, and the answers to them."""

    head: ClassVar[Any]
    """The kind of head that answers."""
    watched: ClassVar[tuple[str, ...]]
    """Figures of the validation set beside the loss; the first decides which checkpoint is best."""
    scores: ClassVar[tuple[ScoreName, ...]]
    """What a set is known by, the first first."""
    what: ClassVar[str] = "example"
    needs: ClassVar[str] = "no example has both a text and a label."
    """What to say of a set of which nothing is left."""
    loses: ClassVar[str] = "the end of each is not read"
    """What becomes of an example that is too long."""

    @abstractmethod
    def read(self, place: Any, progress: Progress, usual: Facts) -> tuple[list[E], dict[str, Any]]:
        """Return the examples of a place, in order, and the columns of a table they are in.

        The usual columns are those of the training set, which are taken where another set has them.
        """

    @abstractmethod
    def reason_to_drop(self, example: E) -> str | None:
        """Return why an example is of no use, if that is so."""

    def reason_not_to_learn(self, example: E) -> str | None:
        """Return why an example can only be tested on, if that is so."""
        return None

    @abstractmethod
    def texts(self, example: E) -> tuple[str, ...]:
        """Return the texts of an example; two with the same ones are the same example."""

    @abstractmethod
    def answer(self, example: E) -> str:
        """Return the right answer as a line of text."""

    def vocabulary(self, example: E) -> tuple[str, ...]:
        """Return the texts that a tokenizer is made from."""
        return self.texts(example)

    def labels(self, train: Sequence[E], name: str) -> list[str]:
        """Return all labels, in order; none where answers are no labels."""
        return []

    def counted(self, examples: Sequence[E]) -> Counter[str]:
        """Return how often each answer is the right one, where that is worth knowing."""
        return Counter(self.answer(each) for each in examples)

    @abstractmethod
    def facts(self, settings: Any, train: Sequence[E], labels: Sequence[str], start: Bundle | None) -> dict[str, Any]:
        """Return what a model, perhaps one that begins with another, must remember to answer as it has learned."""

    def adapt(self, name: str, examples: Sequence[E], facts: dict[str, Any], progress: Progress) -> list[E]:
        """Return examples as a model from elsewhere knows them, which says little of what it has learned from."""
        return list(examples)

    def check(self, name: str, examples: Sequence[E], facts: Facts) -> None:
        """Refuse a set that is not of the kind a model learns, or has learned, from."""

    def outputs(self, facts: Facts) -> int:
        """Return how many scores a head gives at once."""
        return 1

    def head_settings(self, facts: Facts, dropout: float, pooling: Any) -> HeadSettings:
        """Return the head of a model."""
        return HeadSettings(kind=self.head, outputs=self.outputs(facts), dropout=dropout, pooling=pooling)

    @abstractmethod
    def encode(self, examples: Sequence[E], bundle: Bundle, progress: Progress = SILENT) -> Any:
        """Return examples as ids."""

    @abstractmethod
    def say(self, examples: Sequence[E], encoded: Any, scores: list[Scores], facts: Facts) -> Answers:
        """Return the answers that scores amount to."""

    @abstractmethod
    def figures(self, examples: Sequence[E], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return all figures of this task as plain values."""

    @abstractmethod
    def statistics(self, examples: Sequence[E], lines: Sequence[str], facts: Facts) -> dict[str, Statistic]:
        """Return figures of answers that were given as lines, as functions of how often each example counts."""

    def is_right(self, example: E, line: str) -> bool:
        """Tell whether an answer is right."""
        return line == self.answer(example)

    def mistake(self, example: E, line: str, confidence: float) -> Mistake:
        """Return a wrong answer as it is shown."""
        return Mistake(list(self.texts(example)), self.answer(example), line, confidence)

    def tune(self, examples: Sequence[E], answers: Answers, facts: dict[str, Any]) -> Answers:
        """Learn from the validation set what is no weight, where a task has such; return the answers that follow."""
        return answers

    def mistakes(self, examples: Sequence[E], answers: Answers, count: int) -> list[Mistake]:
        """Return wrong answers, the surest first."""
        found = enumerate(zip(examples, answers.lines, strict=True))
        wrong = [row for row, (example, line) in found if not self.is_right(example, line)]
        surest = sorted(wrong, key=lambda row: -answers.confidence[row])[:count]
        return [self.mistake(examples[row], answers.lines[row], answers.confidence[row]) for row in surest]

    def decoding(self, facts: Facts) -> dict[str, Any]:
        """Return what answers depend on besides the model."""
        return {}

    def ask(
        self,
        model: Any,
        facts: Facts,
        examples: Sequence[E],
        encoded: Any,
        device: torch.device,
        limit: int,
        progress: Progress = SILENT,
    ) -> Answers:
        """Return what a model says of examples."""
        return self.say(examples, encoded, head_outputs(model, encoded, device, limit, progress), facts)

    def hashes(self, examples: Sequence[E]) -> dict[str, Any]:
        """Return what tells a set from any other: a hash of the texts, and one of the right answers."""
        sources = lines_hash("\t".join(self.texts(each)).replace("\n", " ") for each in examples)
        answers = lines_hash(self.answer(each).replace("\n", " ") for each in examples)
        return {"sources": sources, "references": [answers]}


def contradictions(examples: Sequence[E], shape: HeadTask[E]) -> dict[tuple[str, ...], list[str]]:
    """Return the texts that occur with different right answers, and those answers."""
    said: dict[tuple[str, ...], set[str]] = {}
    for each in examples:
        said.setdefault(shape.texts(each), set()).add(shape.answer(each))
    return {texts: sorted(answers) for texts, answers in said.items() if len(answers) > 1}
