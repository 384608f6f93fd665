"""Which tokens are to be guessed, and what stands in their places (Devlin et al., 2019, §3.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.corpus.corpus import Ids
from regard.data.counter_rng import Keys, keys_at, ragged, uniform
from regard.data.feeds.sentence_pairs import SentencePairBatch
from regard.errors import ConfigError, DataError
from regard.text.tokenizer import Tokenizer

FOR_MASKS = 2**40
"""What tells the keys of tokens from those that their sequence was drawn with."""
CONTINUES = "##"
"""What a WordPiece begins with inside a word."""


class MaskingSettings(Settings):
    """Which tokens are to be guessed."""

    mask_fraction: float = Field(0.15, gt=0, lt=1)
    """Share of a sequence's tokens that are chosen, one at least."""
    masked: float = Field(0.8, ge=0, le=1)
    """Share of the chosen that become [MASK]."""
    random: float = Field(0.1, ge=0, le=1)
    """Share of the chosen that become any other token; what is left of them stays as it is."""
    whole_word_masking: bool = False
    """Whether all pieces of a word are chosen together."""

    @model_validator(mode="after")
    def _shares_fit(self) -> "MaskingSettings":
        if self.masked + self.random > 1 + 1e-9:
            raise ValueError(f"random: {self.random} and masked {self.masked} are more than all; lower one of them.")
        return self


@dataclass(frozen=True)
class Masked:
    """Sequences with something in the places of some tokens."""

    rows: SentencePairBatch
    tokens: Ids  # (N,) what is read
    places: Ids  # (M,) where something is to be guessed, in order
    labels: Ids  # (M,) what stood there


class Masker:
    """Chooses tokens and replaces them, by the keys of their sequences alone."""

    def __init__(self, settings: MaskingSettings, tokenizer: Tokenizer) -> None:
        if tokenizer.mask_id is None:
            raise ConfigError(
                "text.tokenizer: this tokenizer has no [MASK], so no word can be masked; leave it out, or name "
                "another."
            )
        self.settings, self.mask = settings, tokenizer.mask_id
        self.ordinary = np.array(sorted(tokenizer.vocabulary), np.int64)
        if not len(self.ordinary):
            raise DataError(
                "The tokenizer has special tokens alone, as the text it was made from has none that can be read; add "
                "other text, or name a tokenizer with text.tokenizer."
            )
        self._is_special = np.zeros(1 + max(self.ordinary[-1], *tokenizer.specials), bool)
        self._is_special[list(tokenizer.specials)] = True
        self._continues = _continuing(tokenizer, len(self._is_special)) if settings.whole_word_masking else None

    def __call__(self, rows: SentencePairBatch) -> Masked:
        """Return the sequences as they are to be read."""
        sizes = np.diff(rows.cu_seqlens)
        keys = keys_at(np.repeat(keys_at(rows.keys, FOR_MASKS), sizes), rows.positions)  # (N,)
        text = np.flatnonzero(~self._is_special[rows.tokens])
        owner = np.repeat(np.arange(len(sizes)), sizes)[text]
        wanted = np.maximum(
            1, np.rint(self.settings.mask_fraction * np.bincount(owner, minlength=len(sizes)))
        ).astype(np.int64)
        if self._continues is None:
            places = _lowest(text, np.ones_like(text), owner, keys[text], wanted)
        else:
            is_first = ~self._continues[rows.tokens[text]]
            is_first[:1] = True
            is_first[1:] |= np.diff(text) > 1  # a frame stands between
            firsts = np.flatnonzero(is_first)
            lengths = np.diff(np.append(firsts, len(text)))
            places = _lowest(text[firsts], lengths, owner[firsts], keys[text[firsts]], wanted)
        labels = rows.tokens[places]
        return Masked(rows, self._replaced(rows.tokens, places, keys[places]), places, labels)

    def _replaced(self, tokens: Ids, places: Ids, keys: Keys) -> Ids:
        found = tokens.copy()
        lot = uniform(keys_at(keys, 0))
        is_masked = lot < self.settings.masked
        is_random = ~is_masked & (lot < self.settings.masked + self.settings.random)
        found[places[is_masked]] = self.mask
        drawn = uniform(keys_at(keys[is_random], 1)) * len(self.ordinary)
        found[places[is_random]] = self.ordinary[drawn.astype(np.int64)]
        return found


def _continuing(tokenizer: Tokenizer, size: int) -> NDArray[np.bool_]:
    """Return which ids are pieces inside a word."""
    if tokenizer.kind != "WordPiece":
        raise ConfigError(
            f'masking.whole_word_masking: needs a tokenizer of kind "wordpiece", which marks pieces inside words, '
            f'and this is a {tokenizer.kind}; leave it out, or say text.kind="wordpiece".'
        )
    found = np.zeros(size, bool)
    found[[number for number, piece in tokenizer.vocabulary.items() if piece.startswith(CONTINUES)]] = True
    return found


def _lowest(begins: Ids, lengths: Ids, owner: Ids, keys: Keys, wanted: Ids) -> Ids:
    """Return the places of those runs with the lowest keys that have about as many tokens as each owner wants.

    The run that reaches what is wanted is taken if most of it is, so that neither too many nor too few are; the first
    one always is.
    """
    # Numbers are sorted much faster than the order of numbers is found, so what is wanted back is part of them.
    bits = np.uint64(max(1, len(begins).bit_length()))
    shift = np.uint64(64) - np.uint64(max(1, len(wanted).bit_length()))
    marked = (owner.astype(np.uint64) << shift) | (keys >> (np.uint64(64) - shift))
    marked = (marked >> bits << bits) | np.arange(len(begins)).astype(np.uint64)
    marked.sort()
    order = (marked & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    lengths, owner = lengths[order], owner[order]
    total = np.cumsum(lengths)
    firsts = np.searchsorted(owner, np.arange(len(wanted)))
    before = np.append(0, total)[firsts]
    reached = total - before[owner]
    is_taken = (2 * reached - lengths <= 2 * wanted[owner]) | (reached == lengths)
    return np.sort(ragged(begins[order[is_taken]], lengths[is_taken]))
