"""The data of a run, read, cleaned and encoded, before anything is learned from it."""

from dataclasses import dataclass
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.cleaning import CleaningReport
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits
from regard.data.encoding.batches import EncodedPairs
from regard.data.sources.pair import Pair
from regard.models.base.protocols import ModelSettings
from regard.tasks.translate.pipeline import translation_tokenizers
from regard.tasks.translate.settings import MaskedTranslateSettings, TranslateSettings
from regard.text.tokenizer import Tokenizer

Settings = TranslateSettings[ModelSettings] | MaskedTranslateSettings[ModelSettings]


@dataclass(frozen=True)
class Read:
    """Every set as its file has it."""

    train: list[Pair]
    valid: list[Pair] | None
    """None when it is carved out of `train`."""
    tests: dict[str, list[Pair]]

    @property
    def held_out(self) -> list[Pair]:
        """All pairs that are not for training."""
        return [*(self.valid or []), *(pair for pairs in self.tests.values() for pair in pairs)]

    @property
    def sets(self) -> dict[str, list[Pair]]:
        """Every set under the name that people are told."""
        watched = {} if self.valid is None else {"validation set": self.valid}
        return {"training set": self.train} | watched | {f"test set {name}": it for name, it in self.tests.items()}


@dataclass(frozen=True)
class TranslationData:
    """What a run learns from and is watched by, with the model that is to learn."""

    settings: Settings
    read: Read
    train: list[Pair]
    valid: list[Pair]
    encoded: EncodedPairs
    """The training pairs as ids."""
    watched: EncodedPairs
    """The validation pairs as ids."""
    bundle: Bundle
    reports: dict[str, CleaningReport]
    """What cleaning left of `train` and `valid`."""
    longest: int
    """The most tokens a side may have."""

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """The tokenizer of the source and that of the target, which may be one."""
        return translation_tokenizers(self.bundle.tokenizers)


@dataclass(frozen=True)
class TextTaskData:
    """Running text, tokenized, with the model that is to learn from it."""

    settings: Any
    corpora: TextSplits
    bundle: Bundle
    window: int
    """How many tokens are read at once."""
    per_epoch: int
    """How many updates an epoch has."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The one tokenizer of all text."""
        return self.bundle.tokenizers["tokenizer"]

    @property
    def held_out(self) -> dict[str, Corpus]:
        """Every set that is not learned from, under the name that people are told."""
        tests = {f"test set {name}": corpus for name, corpus in self.corpora.test.items()}
        return {"validation set": self.corpora.valid} | tests


@dataclass(frozen=True)
class Plain:
    """Data that nothing but its settings is told of."""

    settings: Any
