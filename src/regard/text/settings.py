"""What can be said about a tokenizer in a recipe."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings


class TokenizerSettings(Settings):
    """How text becomes pieces."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "bpe"
    """Byte-pair encoding, WordPiece, unigram language model, whole words or single characters."""
    size: int = Field(8000, ge=8, le=1_000_000)
    """The largest number of tokens the vocabulary may have, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """How `bpe` sees a space: as a mark on the next word, or as one of 256 bytes (any text comes back exactly)."""
    lowercase: bool = False
    """Whether capital letters are folded before anything else."""
    strip_accents: bool | None = None
    """Whether accents are taken off letters; unset: where capitals are folded and special tokens are BERT's."""
    unicode: Literal["none", "nfc", "nfkc"] | None = None
    """The Unicode normal form; unset means nfc, and none for bytes and with BERT's special tokens."""
    special_tokens: Literal["plain", "bert"] = "plain"
    """<pad>, <unk>, <s> and </s>; or [PAD], [UNK], [CLS], [SEP] and [MASK], and text cleaned as BERT does."""
    min_frequency: int = Field(2, ge=1)
    """How often a pair (or a word) must occur to enter the vocabulary."""

    @model_validator(mode="after")
    def _bytes_are_for_bpe(self) -> "TokenizerSettings":
        if self.pretokenizer == "byte-level" and self.kind != "bpe":
            raise ValueError(f'pretokenizer: "byte-level" goes with kind "bpe" only, not with "{self.kind}".')
        return self

    @property
    def normal_form(self) -> str:
        """The Unicode normal form after the default has been worked out."""
        return self.unicode or (
            "none" if self.pretokenizer == "byte-level" or self.special_tokens == "bert" else "nfc"
        )

    @property
    def has_accents(self) -> bool:
        """Whether letters keep their accents, after the default has been worked out."""
        if self.strip_accents is None:
            return not (self.lowercase and self.special_tokens == "bert")
        return not self.strip_accents


class CorpusTextSettings(TokenizerSettings):
    """The tokenizer of a run on running text."""

    size: int = Field(16_000, ge=8, le=1_000_000)
    """The largest number of tokens the vocabulary may have, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "byte-level"
    """How `bpe` sees a space: as one of 256 bytes (any text comes back exactly), or as a mark on the next word."""
    tokenizer: str | None = None
    """Path of a ready-made tokenizer.json to use instead of training one."""

    @model_validator(mode="before")
    @classmethod
    def _bytes_are_the_default_of_bpe_alone(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("kind", "bpe") != "bpe" and "pretokenizer" not in values:
            return {**values, "pretokenizer": "metaspace"}
        return values


class MaskedTextSettings(CorpusTextSettings):
    """The tokenizer of a run in which words are masked: BERT's, unless something else is asked for."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "wordpiece"
    """Byte-pair encoding, WordPiece, unigram language model, whole words or single characters."""
    size: int = Field(30_000, ge=8, le=1_000_000)
    """The largest number of tokens the vocabulary may have, special tokens included."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """How `bpe` sees a space: as one of 256 bytes (any text comes back exactly), or as a mark on the next word."""
    lowercase: bool = True
    """Whether capital letters are folded before anything else."""
    special_tokens: Literal["plain", "bert"] = "bert"
    """BERT's [PAD], [UNK], [CLS], [SEP] and [MASK]; plain ones have no mask."""

    @model_validator(mode="after")
    def _words_can_be_masked(self) -> "MaskedTextSettings":
        if self.special_tokens != "bert":
            raise ValueError('special_tokens: "plain" has no [MASK]; only "bert" has one.')
        return self


class WordTextSettings(CorpusTextSettings):
    """The vocabulary of a run on whole words."""

    kind: Literal["bpe", "wordpiece", "unigram", "word", "char"] = "word"
    """Whole words, which white space and punctuation part; nothing else has a vector in a table of words."""
    size: int = Field(30_000, ge=8, le=1_000_000)
    """Words at most, special tokens included; words of a file of vectors that occur in the data come on top."""
    pretokenizer: Literal["metaspace", "byte-level"] = "metaspace"
    """Words are parted by spaces."""
    lowercase: bool = True
    """Whether capital letters are folded before anything else."""
    min_frequency: int = Field(1, ge=1)
    """How often a word must occur in the training set to enter the vocabulary."""

    @model_validator(mode="after")
    def _are_words(self) -> "WordTextSettings":
        if self.kind != "word":
            raise ValueError(f'kind: "{self.kind}" are no words, and the model is a table of words; leave it out.')
        return self


class TextSettings(TokenizerSettings):
    """The tokenizers of a run with a source and a target language."""

    vocabularies: Literal["shared", "separate"] = "shared"
    """One tokenizer for both languages, or one for each."""
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    """Share of BPE merges left out at random while training (Provilkov et al., 2020); drawn from the seed."""
    target_dropout: float | None = Field(None, ge=0.0, lt=1.0)
    """The same on the target side; unset: as much as on the source side."""
    tokenizer: str | None = None
    """Path of a ready-made tokenizer.json to use instead of training one."""

    @model_validator(mode="after")
    def _dropout_is_for_bpe(self) -> "TextSettings":
        for share in self.dropouts:
            if share and self.kind != "bpe":
                raise ValueError(f'dropout: {share} needs kind "bpe", not "{self.kind}".')
        if self.tokenizer and self.vocabularies == "separate":
            raise ValueError("tokenizer: one ready-made tokenizer serves both languages; say vocabularies=shared.")
        return self

    @property
    def dropouts(self) -> tuple[float, float]:
        """The dropout of both sides after the default has been worked out."""
        return self.dropout, self.dropout if self.target_dropout is None else self.target_dropout
