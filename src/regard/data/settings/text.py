"""Data settings of tasks on running text."""

from typing import Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings

SentenceRule = Literal["marks", "lines"]
"""Sentence boundaries: marks: full stops and their equivalents; lines: line feeds."""


class TextSource(Settings):
    """A source of running text: files, folders or data sets, read in the given order."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Files, folders (searched for .txt, .md and .jsonl, each also .gz), hf:NAME or miniature:[SET/]SPLIT."""
    documents: Literal["file", "blank-lines", "lines"] = "file"
    """Unit of a document: file; blank-lines: text between blank lines; lines: a line (always so in .jsonl)."""
    field: str = "text"
    """JSON field (dots for nested ones), or column of a table or data set, of the text."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Maximum number of documents, from the first on (default: all)."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return ", ".join(self.paths)


class TextData(Settings):
    """Training, validation and test text of a language model."""

    train: TextSource
    """Training text."""
    valid: TextSource | None = None
    """Validation text (default: held out of `train` by hash, always the same documents)."""
    valid_fraction: float = Field(0.02, gt=0.0, le=0.5)
    """Fraction of `train` held out if there is no `valid` (20,000 to a million tokens)."""
    test: dict[str, TextSource] = Field(default_factory=dict)
    """Test texts by name, scored once after training."""
    folder: str | None = None
    """Folder of the tokenized text (default: one in corpora/, named by a hash of data and settings)."""

    @model_validator(mode="after")
    def _valid_is_not_train(self) -> "TextData":
        if self.valid == self.train:
            raise ValueError(
                f'valid: "{self.train.name}" is the training text too; leave it out to hold out a part of it.'
            )
        return self


class LanguageSource(TextSource):
    """A source of running text, or a table of prompts with completions or of conversations."""

    paths: tuple[str, ...] = ()
    """Files, folders (searched for .txt, .md and .jsonl, each also .gz), hf:NAME or miniature:[SET/]SPLIT."""
    path: str | None = None
    """Table with columns prompt and completion, or messages: .jsonl, .json, .csv, .tsv (also .gz) or hf:NAME."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.path or super().name

    @model_validator(mode="after")
    def _is_text_or_a_table(self) -> "LanguageSource":
        if bool(self.paths) == (self.path is not None):
            raise ValueError("paths: give running text (paths), or a table of prompts or conversations (path).")
        if self.path is not None and (self.documents, self.field) != ("file", "text"):
            raise ValueError(
                f"documents, field: these are for running text, and {self.path} is a table; leave them out."
            )
        return self


class LanguageData(TextData):
    """Training, validation and test data of a language model: running text, or prompts with completions."""

    train: LanguageSource
    """Training data."""
    valid: LanguageSource | None = None
    """Validation data (default: held out of `train` by hash, always the same documents)."""
    test: dict[str, LanguageSource] = Field(default_factory=dict)  # type: ignore[assignment]
    """Test data by name, scored once after training."""

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "LanguageData":
        sources = [self.train, *([self.valid] if self.valid else []), *self.test.values()]
        other = next((each for each in sources if (each.path is None) != (self.train.path is None)), None)
        if other is not None:
            raise ValueError(
                f"{other.name}: all sets are running text (paths), or all are tables (path), as {self.train.name} is."
            )
        if self.train.path is not None and self.folder is not None:
            raise ValueError(f"folder: {self.train.path} is tokenized in memory; leave the folder out.")
        return self


class DocumentSource(TextSource):
    """A source of running text whose document boundaries matter: half of all pairs are of two documents."""

    documents: Literal["file", "blank-lines", "lines"] = "blank-lines"
    """Unit of a document: blank-lines: text between blank lines; file; lines: a line (always so in .jsonl)."""


class MaskedTextData(TextData):
    """Training, validation and test text of a masked language model."""

    train: DocumentSource
    """Training text."""
    valid: DocumentSource | None = None
    """Validation text (default: held out of `train` by hash, always the same documents)."""
    test: dict[str, DocumentSource] = Field(default_factory=dict)  # type: ignore[assignment]
    """Test texts by name, scored once after training."""
    sentences: SentenceRule = "marks"
    """Sentence boundaries: marks: full stops and their equivalents in other scripts; lines: line feeds."""


class WordData(Settings):
    """Training text of word vectors."""

    train: DocumentSource
    """Training text; context windows do not cross documents."""
    folder: str | None = None
    """Folder of the word ids (default: one in corpora/, named by a hash of data and settings)."""


class SequenceSettings(Settings):
    """Sequences built from sentences."""

    length: int | None = Field(None, ge=16)
    """Maximum sequence length in tokens (default: the model's maximum)."""
    phase1_length: int | None = Field(None, ge=16)
    """Maximum sequence length in tokens in phase 1, whose updates are faster (default: no phase 1)."""
    phase1_fraction: float = Field(0.9, gt=0, lt=1)
    """Fraction of updates in phase 1, if it has a length (Devlin et al., 2019, §A.2)."""
    short_sequence_fraction: float = Field(0.1, ge=0, lt=1)
    """Fraction of sequences cut to a random shorter length, so that the model also trains on short texts."""
    pack_documents: bool = True
    """Fill sequences across documents, if there are no sentence pairs; otherwise each sequence has one document."""
