"""Data settings of translation: sources of pairs, cleaning and splits."""

from typing import Annotated

from pydantic import Field, model_validator

from regard.config.settings import Settings

Column = Annotated[int, Field(ge=0)]


class PairSource(Settings):
    """A source of sentence pairs: two line-aligned files, or one source with both sides."""

    source: str | None = None
    """File with one source sentence per line (also .gz)."""
    target: str | None = None
    """File with the translations, line by line."""
    path: str | None = None
    """File (.tsv, .csv or .jsonl, also .gz), hf:NAME for a Hugging Face data set, or miniature:SPLIT."""
    source_column: str | Column | None = None
    """Column (name, or number from 0) or JSON field (dots for nested ones) of the source."""
    target_column: str | Column | None = None
    """Column or field of the target."""
    references: tuple[str, ...] = ()
    """Files with further references, line by line; for test sets."""
    reference_columns: tuple[str | int, ...] = ()
    """Columns or fields of further references; for test sets."""
    config: str | None = None
    """Configuration of an hf: data set."""
    split: str = "train"
    """Split of an hf: data set."""
    max_rows: int | None = Field(None, ge=1)
    """Maximum number of pairs, from the first on; for miniature:SPLIT, the number to generate (default: all)."""

    @model_validator(mode="after")
    def _is_given_once(self) -> "PairSource":
        if self.path is not None and (self.source is not None or self.target is not None):
            raise ValueError(f'path: "{self.path}" is given with source or target; give one or the other.')
        if self.path is None and (self.source is None or self.target is None):
            missing = "source" if self.source is None else "target"
            raise ValueError(f"{missing}: give both source and target, or a path that holds both.")
        if self.source is not None and self.source == self.target:
            raise ValueError(f'target: "{self.target}" is the source too; give the file with the translations.')
        if self.references and self.path is not None:
            raise ValueError(
                f'references: these files go with source and target; for "{self.path}", set reference_columns.'
            )
        if self.reference_columns and self.path is None:
            raise ValueError("reference_columns: these need a path; for source and target files, set references.")
        return self

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.path or f"{self.source} and {self.target}"


class CleaningSettings(Settings):
    """Filters of pairs; dropped pairs are counted and reported by reason."""

    max_tokens: int = Field(256, ge=1)
    """Maximum length of either side in tokens."""
    max_ratio: float = Field(4.0, gt=1.0)
    """Maximum ratio between the lengths of the sides in characters (a difference of 20 is always allowed)."""
    drop_duplicates: bool = True
    """Drop repeated pairs."""
    drop_copies: bool = False
    """Drop pairs with the same text on both sides."""
    drop_held_out: bool = False
    """Drop training pairs whose source is also in the validation set or a test set."""


class PairData(Settings):
    """Training, validation and test sets of pairs."""

    train: PairSource
    """Training set."""
    valid: PairSource | None = None
    """Validation set (default: held out of `train` by hash, always the same pairs)."""
    valid_fraction: float = Field(0.02, gt=0.0, le=0.5)
    """Fraction of `train` held out if there is no `valid` (about 50 to 2,000 pairs)."""
    test: dict[str, PairSource] = Field(default_factory=dict)
    """Test sets by name, scored once after training."""
    cleaning: CleaningSettings = CleaningSettings()

    @model_validator(mode="after")
    def _learns_from_one_reference(self) -> "PairData":
        for name, source in (("train", self.train), ("valid", self.valid)):
            if source is not None and (source.references or source.reference_columns):
                raise ValueError(f"{name}: several references are for test sets; leave them out here.")
        return self
