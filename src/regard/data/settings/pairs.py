"""What can be said about data in a recipe."""

from typing import Annotated

from pydantic import Field, model_validator

from regard.config.settings import Settings

Column = Annotated[int, Field(ge=0)]


class PairSource(Settings):
    """Where sentence pairs come from: two line-aligned files, or one place that holds both sides."""

    source: str | None = None
    """File with one source sentence a line (.gz too)."""
    target: str | None = None
    """File with the translations, line by line."""
    path: str | None = None
    """A .tsv, .csv or .jsonl file (.gz too), hf:NAME for a `datasets` set, or miniature:SPLIT."""
    source_column: str | Column | None = None
    """Column (its name, or its number from 0) or JSON field (dots reach inside) with the source."""
    target_column: str | Column | None = None
    """Column or field with the target."""
    references: tuple[str, ...] = ()
    """Files with further references, line by line; for test sets."""
    reference_columns: tuple[str | int, ...] = ()
    """Columns or fields with further references; for test sets."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Take only the first so many pairs; for miniature:SPLIT, how many to make."""

    @model_validator(mode="after")
    def _names_one_place(self) -> "PairSource":
        if self.path is not None and (self.source is not None or self.target is not None):
            raise ValueError(f'path: "{self.path}" is given beside source or target; give one or the other.')
        if self.path is None and (self.source is None or self.target is None):
            missing = "source" if self.source is None else "target"
            raise ValueError(f"{missing}: give both source and target, or a path that holds both.")
        if self.source is not None and self.source == self.target:
            raise ValueError(f'target: "{self.target}" is the source too; give the file with the translations.')
        if self.references and self.path is not None:
            raise ValueError(
                f'references: files stand beside source and target; name columns of "{self.path}" instead.'
            )
        if self.reference_columns and self.path is None:
            raise ValueError("reference_columns: these belong to a path; give further files as references.")
        return self

    @property
    def name(self) -> str:
        """How messages call this place."""
        return self.path or f"{self.source} and {self.target}"


class CleaningSettings(Settings):
    """Which pairs are left out; every one is counted by its reason and reported."""

    max_tokens: int = Field(256, ge=1)
    """Longest side kept, in tokens."""
    max_ratio: float = Field(4.0, gt=1.0)
    """Largest ratio between the lengths of the sides, in characters (20 characters are always forgiven)."""
    drop_duplicates: bool = True
    """Whether a pair seen before is dropped."""
    drop_copies: bool = False
    """Whether a pair with the same text on both sides is dropped."""
    drop_held_out: bool = False
    """Whether a training pair is dropped when its source also stands in the validation set or a test set."""


class PairData(Settings):
    """The data of a translation run."""

    train: PairSource
    """What is learned from."""
    valid: PairSource | None = None
    """What is watched while training; unset: carved out of `train`, always the same pairs."""
    valid_fraction: float = Field(0.02, gt=0.0, le=0.5)
    """Share of `train` carved out when there is no `valid` (about 50 pairs at least, 2,000 at most)."""
    test: dict[str, PairSource] = Field(default_factory=dict)
    """Named sets scored once, at the end."""
    cleaning: CleaningSettings = CleaningSettings()

    @model_validator(mode="after")
    def _learns_from_one_reference(self) -> "PairData":
        for name, place in (("train", self.train), ("valid", self.valid)):
            if place is not None and (place.references or place.reference_columns):
                raise ValueError(f"{name}: several references are for test sets; leave them out here.")
        return self
