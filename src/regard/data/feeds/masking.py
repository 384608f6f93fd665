"""Masking for masked language models: selection and replacement of tokens (Devlin et al., 2019, §3.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Ids
from regard.data.counter_rng import Keys, keys_at, ragged, uniform
from regard.data.feeds.sentence_pairs import SentencePairBatch
from regard.data.settings.masking import MaskingSettings
from regard.errors import ConfigError, DataError
from regard.text.tokenizer import Tokenizer

FOR_MASKS = 2**40
"""Counter that separates the keys of masking from those of sampling the sequence."""
CONTINUES = "##"
"""Prefix of a WordPiece token inside a word."""


@dataclass(frozen=True)
class Masked:
    """Sequences with some tokens replaced."""

    rows: SentencePairBatch
    tokens: Ids  # (N,) input ids
    positions: Ids  # (M,) positions to predict, in order
    labels: Ids  # (M,) original ids at these positions


class Masker:
    """Selects and replaces tokens; a pure function of the keys of their sequences."""

    def __init__(self, settings: MaskingSettings, tokenizer: Tokenizer) -> None:
        if tokenizer.mask_id is None:
            raise ConfigError(
                "text.tokenizer: this tokenizer has no [MASK] token, so nothing can be masked; leave it out, or name "
                "another."
            )
        self.settings, self.mask = settings, tokenizer.mask_id
        self.ordinary = np.array(sorted(tokenizer.vocabulary), np.int64)
        if not len(self.ordinary):
            raise DataError(
                "The tokenizer has only special tokens, as the text it was trained on has no readable token; add "
                "other text, or name a tokenizer with text.tokenizer."
            )
        self._is_special = np.zeros(1 + max(self.ordinary[-1], *tokenizer.specials), bool)
        self._is_special[list(tokenizer.specials)] = True
        self._continues = _continuing(tokenizer, len(self._is_special)) if settings.whole_word_masking else None

    def __call__(self, rows: SentencePairBatch) -> Masked:
        """Return the masked sequences."""
        sizes = np.diff(rows.cu_seqlens)
        keys = keys_at(np.repeat(keys_at(rows.keys, FOR_MASKS), sizes), rows.positions)  # (N,)
        text = np.flatnonzero(~self._is_special[rows.tokens])
        owner = np.repeat(np.arange(len(sizes)), sizes)[text]
        wanted = np.maximum(
            1, np.rint(self.settings.mask_fraction * np.bincount(owner, minlength=len(sizes)))
        ).astype(np.int64)
        if self._continues is None:
            positions = _lowest(text, np.ones_like(text), owner, keys[text], wanted)
        else:
            is_first = ~self._continues[rows.tokens[text]]
            is_first[:1] = True
            is_first[1:] |= np.diff(text) > 1  # special tokens lie between
            firsts = np.flatnonzero(is_first)
            lengths = np.diff(np.append(firsts, len(text)))
            positions = _lowest(text[firsts], lengths, owner[firsts], keys[text[firsts]], wanted)
        labels = rows.tokens[positions]
        return Masked(rows, self._replaced(rows.tokens, positions, keys[positions]), positions, labels)

    def _replaced(self, tokens: Ids, positions: Ids, keys: Keys) -> Ids:
        replaced = tokens.copy()
        draw = uniform(keys_at(keys, 0))
        is_masked = draw < self.settings.masked
        is_random = ~is_masked & (draw < self.settings.masked + self.settings.random)
        replaced[positions[is_masked]] = self.mask
        index = uniform(keys_at(keys[is_random], 1)) * len(self.ordinary)
        replaced[positions[is_random]] = self.ordinary[index.astype(np.int64)]
        return replaced


def _continuing(tokenizer: Tokenizer, size: int) -> NDArray[np.bool_]:
    """Return a mask (V,) of the tokens inside a word."""
    if tokenizer.kind != "WordPiece":
        raise ConfigError(
            f'masking.whole_word_masking: needs a tokenizer of kind "wordpiece", which marks tokens inside words, '
            f'and this is a {tokenizer.kind}; leave it out, or set text.kind="wordpiece".'
        )
    is_inside = np.zeros(size, bool)
    is_inside[[number for number, token in tokenizer.vocabulary.items() if token.startswith(CONTINUES)]] = True
    return is_inside


def _lowest(begins: Ids, lengths: Ids, owner: Ids, keys: Keys, wanted: Ids) -> Ids:
    """Return the positions of the runs with the lowest keys, about `wanted` tokens for each owner.

    The run that reaches `wanted` is taken if half of it is needed, which keeps the total near `wanted`; the first
    run is always taken.
    """
    # Sorting is much faster than argsort, so the index is packed into the low bits.
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
