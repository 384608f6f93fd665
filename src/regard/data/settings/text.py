"""What can be said about running text in a recipe."""

from typing import Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings

SentenceRule = Literal["marks", "lines"]
"""How sentences are told apart: by full stops and their like, or a line each."""


class TextSource(Settings):
    """Where running text comes from: files, folders of them, or data sets, read in the order given."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Files, folders (searched for .txt, .md and .jsonl, each also .gz), hf:NAME, or miniature:[SET/]SPLIT."""
    documents: Literal["file", "blank-lines", "lines"] = "file"
    """What one document is: a file, what blank lines part, or a line; a line of a .jsonl file always is one."""
    field: str = "text"
    """JSON field (dots reach inside), or column of a table or data set, that holds the text."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Take only the first so many documents."""

    @property
    def name(self) -> str:
        """How messages call this place."""
        return ", ".join(self.paths)


class TextData(Settings):
    """The data of a language model's run."""

    train: TextSource
    """What is learned from."""
    valid: TextSource | None = None
    """What is watched while training; unset: carved out of `train`, always the same documents."""
    valid_fraction: float = Field(0.02, gt=0.0, le=0.5)
    """Share of `train` carved out when there is no `valid` (20,000 tokens at least, a million at most)."""
    test: dict[str, TextSource] = Field(default_factory=dict)
    """Named sets scored once, at the end."""
    folder: str | None = None
    """Where the tokenized text is kept; unset: a folder of its own in corpora/, by what is read and how."""

    @model_validator(mode="after")
    def _watches_other_text(self) -> "TextData":
        if self.valid == self.train:
            raise ValueError(
                f'valid: "{self.train.name}" is the training text too; leave it out, and a part is set apart.'
            )
        return self


class MarkedSource(TextSource):
    """Where running text comes from whose documents matter: half of all pairs are of two different ones."""

    documents: Literal["file", "blank-lines", "lines"] = "blank-lines"
    """What one document is: what blank lines part, a file, or a line; a line of a .jsonl file always is one."""


class MarkedTextData(TextData):
    """The data of a run in which words are masked."""

    train: MarkedSource
    """What is learned from."""
    valid: MarkedSource | None = None
    """What is watched while training; unset: carved out of `train`, always the same documents."""
    test: dict[str, MarkedSource] = Field(default_factory=dict)  # type: ignore[assignment]
    """Named sets scored once, at the end."""
    sentences: SentenceRule = "marks"
    """How sentences are told apart: by full stops and their like in other scripts, or a line each."""


class WordData(Settings):
    """The data of a run that learns word vectors."""

    train: MarkedSource
    """What is learned from; windows do not reach from one document into another."""
    folder: str | None = None
    """Where the words are kept as numbers; unset: a folder of its own in corpora/, by what is read and how."""


class SequenceSettings(Settings):
    """How sequences are made of sentences."""

    length: int | None = Field(None, ge=16)
    """Tokens of a sequence at most; unset: as many as the model has places for."""
    phase1_length: int | None = Field(None, ge=16)
    """Tokens of a sequence at most in the early updates, which go faster so; unset: the same from the start."""
    phase1_fraction: float = Field(0.9, gt=0, lt=1)
    """Share of the updates that are early, if there is an early length (Devlin et al., 2019, §A.2)."""
    short_sequence_fraction: float = Field(0.1, ge=0, lt=1)
    """Share of sequences cut to a shorter length, drawn at random, so that short texts are known too."""
    pack_documents: bool = True
    """Without pairs: whether a sequence goes on with the next document until it is full; if not, each holds one."""
