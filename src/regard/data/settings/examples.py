"""Data settings of tasks with labeled examples."""

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from regard.config.settings import Settings

Column = Annotated[int, Field(ge=0)]
Pairs = Literal["cross-encoder", "both-orders", "bi-encoder"]
"""Encoding of pairs: cross-encoder: one sequence; both-orders: two sequences, A B and B A; bi-encoder: one each."""


class ExampleSource(Settings):
    """A source of examples: a file, a data set, or a split of the miniature world."""

    path: str
    """File (also .gz), hf:NAME for a Hugging Face data set, or miniature:[SET/]SPLIT."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Maximum number of examples, from the first on; for miniature:SPLIT, the number to generate (default: all)."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.path


class TableSource(ExampleSource):
    """A table with a label column: .csv, .tsv, .jsonl, or a data set."""

    label_column: str | Column | None = None
    """Column (name, or number from 0) or JSON field (dots for nested ones) of the label (default: detected)."""


class LabelSource(TableSource):
    """A source of labeled texts or pairs of texts."""

    text_column: str | Column | None = None
    """Column or field of the text (default: detected by name or contents)."""
    second_column: str | Column | None = None
    """Column or field of the second text, for pairs."""

    @model_validator(mode="after")
    def _second_needs_a_first(self) -> "LabelSource":
        if self.second_column is not None and self.text_column is None:
            raise ValueError("second_column: name the first text too, as text_column.")
        return self


class ClassSource(LabelSource):
    """A source of texts or pairs of texts with one label each, or with a list of labels."""

    label_separator: str | None = Field(None, min_length=1)
    """Separator of the labels in a cell of a table, such as | (default: a cell is one label; JSON has lists)."""


class ChoiceSource(TableSource):
    """A source of multiple-choice examples: contexts with choices, one of them right."""

    context_column: str | Column | None = None
    """Column or field of the context (default: detected by name)."""
    choices_column: str | None = None
    """JSON field of the list of choices (default: detected by name)."""
    choice_columns: tuple[str | int, ...] = ()
    """Columns of one choice each (default: detected by name)."""

    @model_validator(mode="after")
    def _choices_are_given_once(self) -> "ChoiceSource":
        if self.choices_column is not None and self.choice_columns:
            raise ValueError("choice_columns: choices_column is given too; give one or the other.")
        if len(self.choice_columns) == 1:
            raise ValueError("choice_columns: only one column; name at least two.")
        return self


class TagSource(TableSource):
    """A source of tagged sentences: CoNLL files, tables with one word per row, or lists in JSON."""

    word_column: str | Column | None = None
    """Column (number from 0; in a table also its name) or JSON field of the words (default: detected)."""
    sentence_column: str | Column | None = None
    """Column that identifies the sentence, in tables with one word per row (default: detected, or blank rows)."""
    scheme: Literal["auto", "iob1", "iob2", "bioes", "none"] = "auto"
    """Tagging scheme: auto: detected; iob1, iob2, bioes: span tags; none: no spans, such as parts of speech."""


class QuestionSource(ExampleSource):
    """A source of questions about texts: SQuAD's JSON (1.1 or 2.0), or tables with the same fields."""


S = TypeVar("S", bound=ExampleSource)


class ExampleData(Settings, Generic[S]):
    """Training, validation and test sets of labeled examples."""

    train: S
    """Training set."""
    valid: S | None = None
    """Validation set (default: held out of `train` by hash, always the same examples)."""
    valid_fraction: float = Field(0.1, gt=0.0, le=0.5)
    """Fraction of `train` held out if there is no `valid` (at most 2,000 examples)."""
    test: dict[str, S] = Field(default_factory=dict)
    """Test sets by name, scored once after training."""

    @model_validator(mode="after")
    def _valid_is_not_train(self) -> "ExampleData[S]":
        if self.valid == self.train:
            raise ValueError(
                f'valid: "{self.train.name}" is the training set too; leave it out to hold out a part of it.'
            )
        return self
