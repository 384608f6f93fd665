"""Prepared runs: model, feed, objective, validation and test sets, with the data of translation and text tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from regard.checkpoint.bundle import Bundle
from regard.data.cleaning import CleaningReport
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import TextSplits
from regard.data.encoding.batches import EncodedPairs
from regard.data.feeds.feed import Feed
from regard.data.sources.pair import Pair
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.objectives.loss import Objective
from regard.tasks.record import DataReport
from regard.tasks.text.settings import TextRunSettings
from regard.tasks.translate.settings import PairRunSettings
from regard.text.tokenizer import Tokenizer
from regard.training.hooks import SCORINGS

D = TypeVar("D", covariant=True)


@dataclass(frozen=True)
class EvalSet:
    """A set to score on."""

    name: str
    rows: Any
    """Examples, or the corpus of a text."""
    references: Sequence[Sequence[str]] = ()
    """All references of each row, where there may be several."""
    encoded: Any = None
    """The rows as token ids, where they are already encoded."""
    source: Any = None
    """The settings of a text, where other models can tokenize it again."""
    tokenizer: Any = None
    """The tokenizer that a text is in the tokens of."""


def spread(count: int, most: int) -> list[int]:
    """Return up to `most` of so many rows, evenly spaced from the first to the last."""
    return sorted({round(each) for each in np.linspace(0, count - 1, min(count, most))})


@dataclass(frozen=True)
class SampleLoss:
    """The loss of a model on a sample of its run's validation data: computed anew at each call."""

    compute: Callable[[], float]
    """The mean negative log-likelihood (of a regression: squared error), without label smoothing."""
    examples: int
    """Sentences, examples or windows of text that it is computed on."""


@dataclass(frozen=True)
class Prepared(Generic[D]):
    """Everything the training loop needs: model, feed, objective, validation and test sets."""

    bundle: Bundle
    feed: Feed
    objective: Objective
    width: int
    validate: Callable[[Any], dict[str, float]]
    tests: Mapping[str, EvalSet]
    """The sets that are evaluated after training, by name."""
    report: DataReport
    """The data in run.json: counts, dropped rows by reason, hashes of files."""
    data: D
    """The data itself, for checks."""
    baseline: Mapping[str, float] = field(default_factory=dict)
    """Validation metrics of the best constant prediction; a model at this level has learned nothing."""
    scorings: float = SCORINGS
    """Time of the final scores, in validations, about."""


def scorings(scored: int, validated: int, each: float = 1.5) -> float:
    """Return the time of the final scores of so many rows, in validations.

    `each`: the time of a row, as a multiple of that in a validation; all its metrics are computed.
    """
    return max(2.0, each * scored / max(1, validated))


def translation_tokenizers(tokenizers: Mapping[str, Tokenizer]) -> tuple[Tokenizer, Tokenizer]:
    """Return the tokenizers of the source and of the target, which may be the same."""
    if "tokenizer" in tokenizers:
        return tokenizers["tokenizer"], tokenizers["tokenizer"]
    return tokenizers["source"], tokenizers["target"]


@dataclass(frozen=True)
class RawPairs:
    """Every set as it was read, before cleaning."""

    train: list[Pair]
    valid: list[Pair] | None
    """None when it is held out of `train`."""
    tests: dict[str, list[Pair]]

    @property
    def held_out(self) -> list[Pair]:
        """All pairs that are not for training."""
        return [*(self.valid or []), *(pair for pairs in self.tests.values() for pair in pairs)]

    @property
    def sets(self) -> dict[str, list[Pair]]:
        """Every set by its name in messages."""
        valid = {} if self.valid is None else {"validation set": self.valid}
        tests = {f"test set {name}": pairs for name, pairs in self.tests.items()}
        return {"training set": self.train} | valid | tests


@dataclass(frozen=True)
class TranslationData:
    """Sentence pairs, cleaned and encoded."""

    settings: PairRunSettings[ModelSettings]
    raw: RawPairs
    train: list[Pair]
    valid: list[Pair]
    encoded: EncodedPairs
    """The training pairs as ids."""
    valid_encoded: EncodedPairs
    roles: dict[str, Tokenizer]
    """The tokenizers by role: `tokenizer`, or `source` and `target`."""
    reports: dict[str, CleaningReport]
    """Numbers of pairs that cleaning read, kept and dropped, for `train` and `valid`."""
    max_tokens: int
    """Maximum number of tokens of a side."""

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """The tokenizers of the source and of the target, which may be the same."""
        return translation_tokenizers(self.roles)

    @property
    def vocabularies(self) -> Vocabularies:
        """The sizes of the embedding matrices of a new model."""
        source, target = self.tokenizers
        return Vocabularies(source.size, target.size, source is target)


@dataclass(frozen=True)
class TextTaskData:
    """Running text, tokenized."""

    settings: TextRunSettings[ModelSettings]
    corpora: TextSplits
    tokenizer: Tokenizer
    folder: Path
    """The folder of the tokenized text."""

    @property
    def vocabularies(self) -> Vocabularies:
        """The sizes of the embedding matrices of a new model."""
        return Vocabularies(self.tokenizer.size, self.tokenizer.size, is_shared=True)

    @property
    def tests(self) -> Mapping[str, Corpus]:
        """The texts that are evaluated after training: the test sets, or the validation set where there is none."""
        return self.corpora.test or {"valid": self.corpora.valid}

    @property
    def validated(self) -> int:
        """The number of tokens of a validation."""
        return min(len(self.corpora.valid), self.settings.validation.tokens)

    @property
    def held_out(self) -> dict[str, Corpus]:
        """The validation and test sets by their names in messages."""
        tests = {f"test set {name}": corpus for name, corpus in self.corpora.test.items()}
        return {"validation set": self.corpora.valid} | tests
