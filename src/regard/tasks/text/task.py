"""The base of tasks on running text: the texts to score on, and the section of a card on data."""

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from regard.data.settings.text import SentenceRule, TextData
from regard.data.sources.memory import TEXT
from regard.progress import Progress
from regard.reporting.markdown import code, table
from regard.tasks.card import pretrained
from regard.tasks.contract import D, S, Task
from regard.tasks.record import RunRecord, ScoresRecord
from regard.tasks.text.records import TextReport

if TYPE_CHECKING:
    from regard.tasks.card import CardInput
    from regard.tasks.data import EvalSet
    from regard.text.tokenizer import Tokenizer


class HasTokenizer(Protocol):
    """A pipeline with one tokenizer."""

    @property
    def tokenizer(self) -> "Tokenizer":
        """The tokenizer of the model."""


P = TypeVar("P", bound=HasTokenizer)


class TextTask(Task[S, D, P], Generic[S, D, P]):
    """A task on running text, whose tokens are kept on disk."""

    rows = ({"text": TEXT},)
    report: ClassVar[type[TextReport]] = TextReport
    scores = ScoresRecord
    data: ClassVar[type[TextData]] = TextData
    """Settings of the data of a run."""
    unit: ClassVar[str] = "tokens"
    """The tokens of its tokenizer, in words."""

    def sentences(self, pipeline: P) -> SentenceRule | None:
        """Return the rule that splits a model's texts into sentences; None: they are not split."""
        return None

    def eval_sets(
        self, pipeline: P, source: Any, record: RunRecord | None, folder: Path, progress: Progress
    ) -> "dict[str, EvalSet]":
        """Return the text at a source, or the test sets of a run."""
        from regard.tasks.text.corpora import text_sets

        tokenizer, sentences = pipeline.tokenizer, self.sentences(pipeline)
        return text_sets(source, record, self.data, tokenizer, folder, progress, sentences)

    def set_hashes(self, chosen: "EvalSet") -> dict[str, Any]:
        """Return the hash of the text."""
        from regard.tasks.text.corpora import text_hashes

        return text_hashes(chosen)

    def for_model(self, pipeline: P, chosen: "EvalSet", folder: Path, progress: Progress) -> "EvalSet":
        """Return a text in the tokens of another model."""
        from regard.tasks.text.corpora import retokenized

        return retokenized(chosen, pipeline.tokenizer, folder, progress, self.sentences(pipeline))

    @abstractmethod
    def sequences(self, record: RunRecord) -> str:
        """Return a sentence on the sequences that a model is trained on."""

    def describe(self, card: "CardInput") -> list[str]:
        """Return the source and the size of every set."""
        from regard.tasks.text.corpora import text_report, text_rows

        report = text_report(card.record)
        return [
            "## Data",
            "",
            *table(["set", "from", "documents", self.unit, "bytes", "words"], text_rows(card.record)),
            "",
            f"{self.sequences(card.record)} Hash of the tokenized text: {code(report.hash)}.",
            *pretrained(report),
        ]
