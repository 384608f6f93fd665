"""Tokenizer settings of a recipe: algorithm, vocabulary size, normalization and BPE dropout."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings


class TokenizerSettings(Settings):
    """Tokenizer algorithm, vocabulary and normalization."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "bpe"
    """bpe: byte-pair encoding; wordpiece: WordPiece; unigram: unigram LM; word: whole words; char: characters."""
    size: int = Field(8000, ge=8, le=1_000_000)
    """Maximum vocabulary size in tokens, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """Pre-tokenizer of `bpe`: metaspace: ▁ marks word starts; byte-level: 256 bytes (lossless for any text)."""
    lowercase: bool = False
    """Lowercase the text before tokenization."""
    strip_accents: bool | None = None
    """Strip accents (default: true for lowercased text with BERT's special tokens, else false)."""
    unicode: Literal["none", "nfc", "nfkc"] | None = None
    """Unicode normal form (default: nfc; none for byte-level tokenizers and BERT's special tokens)."""
    special_tokens: Literal["plain", "bert"] = "plain"
    """plain: <pad>, <unk>, <s>, </s>; bert: [PAD], [UNK], [CLS], [SEP], [MASK] and BERT's text normalization."""
    min_frequency: int = Field(2, ge=1)
    """Minimum count of a pair (or of a word) in the training text to enter the vocabulary."""

    @model_validator(mode="after")
    def _byte_level_is_for_bpe(self) -> "TokenizerSettings":
        if self.pretokenizer == "byte-level" and self.kind != "bpe":
            raise ValueError(f'pretokenizer: "byte-level" goes with kind "bpe" only, not with "{self.kind}".')
        return self

    @property
    def normal_form(self) -> str:
        """The Unicode normal form, defaults resolved."""
        return self.unicode or (
            "none" if self.pretokenizer == "byte-level" or self.special_tokens == "bert" else "nfc"
        )

    @property
    def has_accents(self) -> bool:
        """True if accents are kept, defaults resolved."""
        if self.strip_accents is None:
            return not (self.lowercase and self.special_tokens == "bert")
        return not self.strip_accents


class CorpusTextSettings(TokenizerSettings):
    """The tokenizer of a run on unlabeled text."""

    size: int = Field(16_000, ge=8, le=1_000_000)
    """Maximum vocabulary size in tokens, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "byte-level"
    """Pre-tokenizer of `bpe`: byte-level: 256 bytes (lossless for any text); metaspace: ▁ marks word starts."""
    tokenizer: str | None = None
    """Path of an existing tokenizer.json to use instead of training one."""

    @model_validator(mode="before")
    @classmethod
    def _byte_level_is_the_default_of_bpe_only(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("kind", "bpe") != "bpe" and "pretokenizer" not in values:
            return {**values, "pretokenizer": "metaspace"}
        return values


class MaskedTextSettings(CorpusTextSettings):
    """The tokenizer of a masked language model: BERT's WordPiece by default."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "wordpiece"
    """bpe: byte-pair encoding; wordpiece: WordPiece; unigram: unigram LM; word: whole words; char: characters."""
    size: int = Field(30_000, ge=8, le=1_000_000)
    """Maximum vocabulary size in tokens, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """Pre-tokenizer of `bpe`: byte-level: 256 bytes (lossless for any text); metaspace: ▁ marks word starts."""
    lowercase: bool = True
    """Lowercase the text before tokenization."""
    special_tokens: Literal["plain", "bert"] = "bert"
    """bert: [PAD], [UNK], [CLS], [SEP] and [MASK]; plain is refused: it has no mask token."""

    @model_validator(mode="after")
    def _words_can_be_masked(self) -> "MaskedTextSettings":
        if self.special_tokens != "bert":
            raise ValueError('special_tokens: "plain" has no [MASK]; only "bert" has one.')
        return self


class WordTextSettings(CorpusTextSettings):
    """The vocabulary of a model with word embeddings."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "word"
    """word: split at white space and punctuation; a model of word embeddings takes no other kind."""
    size: int = Field(30_000, ge=8, le=1_000_000)
    """Maximum vocabulary size in words, special tokens included; words of pretrained vectors are added to it."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """Unused: words are split at white space and punctuation."""
    lowercase: bool = True
    """Lowercase the text before tokenization."""
    min_frequency: int = Field(1, ge=1)
    """Minimum count of a word in the training set to enter the vocabulary."""

    @model_validator(mode="after")
    def _are_words(self) -> "WordTextSettings":
        if self.kind != "word":
            raise ValueError(
                f'kind: "{self.kind}" does not give whole words, and the model has word embeddings; leave it out.'
            )
        return self


class TextSettings(TokenizerSettings):
    """The tokenizers of a run with a source and a target language."""

    vocabularies: Literal["shared", "separate"] = "shared"
    """shared: one tokenizer for both languages; separate: one for each."""
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    """BPE-dropout: probability of skipping a merge while training (Provilkov et al., 2020); follows the seed."""
    target_dropout: float | None = Field(None, ge=0.0, lt=1.0)
    """BPE-dropout of the target side (default: the same as `dropout`)."""
    tokenizer: str | None = None
    """Path of an existing tokenizer.json to use instead of training one."""

    @model_validator(mode="after")
    def _dropout_is_for_bpe(self) -> "TextSettings":
        for probability in self.dropouts:
            if probability and self.kind != "bpe":
                raise ValueError(f'dropout: {probability} needs kind "bpe", not "{self.kind}".')
        if self.tokenizer and self.vocabularies == "separate":
            raise ValueError("tokenizer: an existing tokenizer serves both languages; set vocabularies=shared.")
        return self

    @property
    def dropouts(self) -> tuple[float, float]:
        """BPE-dropout of source and target, defaults resolved."""
        return self.dropout, self.dropout if self.target_dropout is None else self.target_dropout


class WordSettings(Settings):
    """The words that get vectors: splitting, frequency threshold and phrases."""

    split: Literal["letters", "spaces"] = "letters"
    """Word boundaries (default: runs of alphanumerics with ' - _ inside); spaces: split at white space only."""
    lowercase: bool = True
    """Lowercase the text."""
    min_count: int = Field(5, ge=1)
    """Minimum count of a word to get a vector; rarer words are removed from the text."""
    size: int | None = Field(None, ge=1)
    """Maximum vocabulary size in words, the most frequent first (default: all with the minimum count)."""
    max_counted_words: int = Field(4_000_000, ge=1000)
    """Maximum distinct words counted at once: beyond it the rarest are dropped, with a warning."""
    phrases: int = Field(0, ge=0, le=4)
    """Passes that join pairs such as new_york into one word; a second pass joins up to four words."""
    phrase_threshold: float = Field(100.0, gt=0)
    """Minimum score of a phrase: its count relative to that of independent words (Mikolov et al., 2013, eq. 6)."""


class TokenizerOutput(Settings):
    """The file of a tokenizer."""

    out: Path = Path("tokenizer.json")
    """Output file."""


class TokenizerSide(Settings):
    """The language of a run with two tokenizers."""

    side: Literal["source", "target"] = "source"
    """Tokenizer of a run with two: source or target."""
