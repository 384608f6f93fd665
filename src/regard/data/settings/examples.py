"""What can be said about labeled examples in a recipe."""

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from regard.config.settings import Settings

Column = Annotated[int, Field(ge=0)]


class ExampleSource(Settings):
    """Where examples come from: a file, a data set, or part of the miniature world."""

    path: str
    """A file (.gz too), hf:NAME for a `datasets` set, or miniature:[SET/]SPLIT."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Take only the first so many examples; for miniature:SPLIT, how many to make."""

    @property
    def name(self) -> str:
        """How messages call this place."""
        return self.path


class TableSource(ExampleSource):
    """A table with a column of answers: .csv, .tsv, .jsonl, or a data set."""

    label_column: str | Column | None = None
    """Column (its name, or its number from 0) or JSON field (dots reach inside) with the answer; unset: guessed."""


class LabelSource(TableSource):
    """Where texts, or pairs of texts, with a label come from."""

    text_column: str | Column | None = None
    """Column or field with the text; unset: guessed from its name, or from what the columns hold."""
    second_column: str | Column | None = None
    """Column or field with the second text, for pairs."""

    @model_validator(mode="after")
    def _second_needs_a_first(self) -> "LabelSource":
        if self.second_column is not None and self.text_column is None:
            raise ValueError("second_column: name the first text too, as text_column.")
        return self


class ChoiceSource(TableSource):
    """Where contexts with several continuations, one of them right, come from."""

    context_column: str | Column | None = None
    """Column or field with the context; unset: guessed from its name."""
    choices_column: str | None = None
    """JSON field with the list of choices; unset: guessed from its name."""
    choice_columns: tuple[str | int, ...] = ()
    """Columns with one choice each; unset: guessed from their names."""

    @model_validator(mode="after")
    def _choices_are_in_one_place(self) -> "ChoiceSource":
        if self.choices_column is not None and self.choice_columns:
            raise ValueError("choice_columns: choices are in choices_column already; give one or the other.")
        if len(self.choice_columns) == 1:
            raise ValueError("choice_columns: one choice is none; name two columns or more.")
        return self


class TagSource(TableSource):
    """Where words with tags come from: CoNLL files, tables with a word a row, or lists in JSON."""

    word_column: str | Column | None = None
    """Column (its number from 0, in a table also its name) or JSON field with the words; unset: guessed."""
    sentence_column: str | Column | None = None
    """Column of a table with a word a row that says which sentence a word is in; unset: guessed, or blank rows."""
    scheme: Literal["auto", "iob1", "iob2", "bioes", "none"] = "auto"
    """How tags mark spans; none: each tag is one of its own, as parts of speech are. All are read alike."""


class QuestionSource(ExampleSource):
    """Where questions about texts come from: SQuAD's JSON (both versions), or tables of the same fields."""


S = TypeVar("S", bound=ExampleSource)


class ExampleData(Settings, Generic[S]):
    """The data of a run on labeled examples."""

    train: S
    """What is learned from."""
    valid: S | None = None
    """What is watched while training; unset: carved out of `train`, always the same examples."""
    valid_fraction: float = Field(0.1, gt=0.0, le=0.5)
    """Share of `train` carved out when there is no `valid` (2,000 examples at most)."""
    test: dict[str, S] = Field(default_factory=dict)
    """Named sets scored once, at the end."""

    @model_validator(mode="after")
    def _watches_other_examples(self) -> "ExampleData[S]":
        if self.valid == self.train:
            raise ValueError(
                f'valid: "{self.train.name}" is the training set too; leave it out, and a part is set apart.'
            )
        return self
