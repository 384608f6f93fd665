"""Seeded BPE-dropout: that of `tokenizers` takes no seed, so a run with it could not be reproduced."""

import json
import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError
from regard.text.tokenizer import Tokenizer

VARIANTS = 32
"""Segmentations cached for each word: each is computed once, and sampling one is a look-up."""

UNSUPPORTED = ("end_of_word_suffix", "continuing_subword_prefix", "byte_fallback", "ignore_merges")
"""Options of a BPE model that these merges do not implement."""


class DropoutEncoder:
    """Encodes words while skipping each BPE merge with a probability (Provilkov et al., 2020, §3)."""

    def __init__(self, tokenizer: Tokenizer, probability: float) -> None:
        if tokenizer.kind != "BPE":
            raise ConfigError(f"text.dropout: {probability} needs a BPE tokenizer, and this is a {tokenizer.kind}.")
        model = json.loads(tokenizer.backend.to_str())["model"]
        unsupported = [name for name in UNSUPPORTED if model.get(name)]
        if unsupported or tokenizer.backend.pre_tokenizer is None:
            reason = f"uses {unsupported[0]}" if unsupported else "has no pre-tokenizer"
            raise ConfigError(
                f"text.dropout: {probability} is not supported for this tokenizer, which {reason}; "
                f"set text.dropout=0, or let regard train the tokenizer."
            )
        self.tokenizer = tokenizer
        self.probability = probability
        self.ids: dict[str, int] = model["vocab"]
        self.ranks = {(left, right): rank for rank, (left, right) in enumerate(model["merges"])}
        self.fuses_unknown: bool = model["fuse_unk"]

    def words(self, text: str) -> list[str]:
        """Return the pre-tokenized words of a text; no merge crosses them."""
        return self.tokenizer.words(text)

    def split(self, word: str, seed: int) -> list[int]:
        """Return the token ids of a word under the merges that this seed keeps."""
        uniform = random.Random(f"{seed} {word}").random
        ids = [self.ids.get(token, self.tokenizer.unk_id) for token in self._merge(list(word), uniform)]
        return self._fuse(ids) if self.fuses_unknown else ids

    def _merge(self, symbols: list[str], uniform: Callable[[], float]) -> list[str]:
        """Merge the best-ranked pair until no pair is left or all were dropped."""
        ranks, probability = self.ranks, self.probability
        while len(symbols) > 1:
            best, best_rank = -1, len(ranks)
            for position in range(len(symbols) - 1):
                rank = ranks.get((symbols[position], symbols[position + 1]))
                # A pair that ranks below the best one needs no random number: the outcome has the same distribution.
                if rank is not None and rank < best_rank and uniform() >= probability:
                    best, best_rank = position, rank
            if best < 0:
                break
            symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
        return symbols

    def _fuse(self, ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_id
        return [
            token
            for position, token in enumerate(ids)
            if token != unknown or ids[position - 1 : position] != [unknown]
        ]


class DropoutCorpus:
    """Texts that are re-segmented for each seed, each followed by EOS."""

    def __init__(self, texts: Sequence[str], encoder: DropoutEncoder) -> None:
        self.encoder = encoder
        numbers: dict[str, int] = {"": 0}  # no word is empty: "" stands for EOS
        words = [[*(numbers.setdefault(word, len(numbers)) for word in encoder.words(text)), 0] for text in texts]
        self.words = np.concatenate([np.asarray(each, np.int64) for each in words])
        self.starts = np.concatenate([[0], np.cumsum([len(each) for each in words])])
        self.spellings = list(numbers)
        # Each word has VARIANTS slots: where its ids begin in `ids`, and their number (-1: not computed yet).
        self.begins = np.zeros(len(numbers) * VARIANTS, np.int64)
        self.lengths = np.full(len(numbers) * VARIANTS, -1, np.int64)
        self.ids = np.zeros(0, np.int32)

    def encode(self, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the concatenated ids of all texts, and where each text starts (and the last one ends)."""
        variants = np.random.default_rng(seed).integers(0, VARIANTS, len(self.words))
        slots = self.words * VARIANTS + variants
        self._segment(np.unique(slots[self.lengths[slots] < 0]))
        lengths = self.lengths[slots]
        ends = np.cumsum(lengths)
        positions = np.arange(ends[-1]) + np.repeat(self.begins[slots] - (ends - lengths), lengths)
        return self.ids[positions], np.concatenate([[0], ends])[self.starts]

    def _segment(self, slots: NDArray[np.int64]) -> None:
        new_ids: list[int] = []
        for slot in slots.tolist():
            word, variant = divmod(slot, VARIANTS)
            ids = self.encoder.split(self.spellings[word], variant) if word else [self.encoder.tokenizer.eos_id]
            self.begins[slot], self.lengths[slot] = len(self.ids) + len(new_ids), len(ids)
            new_ids += ids
        self.ids = np.concatenate([self.ids, np.asarray(new_ids, np.int32)])
