"""What can be said about running text in a recipe."""

from typing import Literal

from pydantic import Field, model_validator

from regard.config import Settings


class TextSource(Settings):
    """Where running text comes from: files, folders of them, or data sets, read in the order given."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Files, folders (searched for .txt, .md and .jsonl, each also .gz), hf:NAME, or miniature:[SET/]SPLIT."""
    documents: Literal["file", "blank-lines", "lines"] = "file"
    """What one document is: a file, what blank lines part, or a line; a line of a .jsonl file always is one."""
    field: str = "text"
    """JSON field or column of a data set (dots reach inside) that holds the text."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    count: int | None = Field(None, ge=1)
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
    valid_share: float = Field(0.02, gt=0.0, le=0.5)
    """Share of `train` carved out when there is no `valid` (20,000 tokens at least, a million at most)."""
    test: dict[str, TextSource] = Field(default_factory=dict)
    """Named sets scored once, at the end."""
    folder: str | None = None
    """Where the tokenised text is kept; unset: a folder of its own in corpora/, by what is read and how."""

    @model_validator(mode="after")
    def _watches_other_text(self) -> "TextData":
        if self.valid == self.train:
            raise ValueError(
                f'valid: "{self.train.name}" is the training text too; leave it out, and a part is set apart.'
            )
        return self
