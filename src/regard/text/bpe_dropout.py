"""BPE dropout from a seed: `tokenizers` draws its own from the operating system and cannot be repeated."""

import json
import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError
from regard.text.tokenizer import Tokenizer

VARIANTS = 32
"""Ways in which a word is split at most: each is worked out once, and every later draw of it is a look-up."""

UNSUPPORTED = ("end_of_word_suffix", "continuing_subword_prefix", "byte_fallback", "ignore_merges")
"""Ways in which a BPE model made elsewhere may differ from what is merged here."""


class DropoutEncoder:
    """Encodes words with a share of the BPE merges left out (Provilkov et al., 2020, §3)."""

    def __init__(self, tokenizer: Tokenizer, probability: float) -> None:
        if tokenizer.kind != "BPE":
            raise ConfigError(f"text.dropout: {probability} needs a BPE tokenizer, and this is a {tokenizer.kind}.")
        model = json.loads(tokenizer.backend.to_str())["model"]
        odd = [name for name in UNSUPPORTED if model.get(name)]
        if odd or tokenizer.backend.pre_tokenizer is None:
            reason = f"uses {odd[0]}" if odd else "has no pre-tokenizer"
            raise ConfigError(
                f"text.dropout: {probability} cannot be drawn for this ready-made tokenizer, which {reason}; "
                f"say text.dropout=0, or let regard train the tokenizer."
            )
        self.tokenizer = tokenizer
        self.probability = probability
        self.ids: dict[str, int] = model["vocab"]
        self.ranks = {(left, right): rank for rank, (left, right) in enumerate(model["merges"])}
        self.fuses_unknown: bool = model["fuse_unk"]

    def words(self, text: str) -> list[str]:
        """Return the words within which merges happen."""
        return self.tokenizer.words(text)

    def split(self, word: str, seed: int) -> list[int]:
        """Return the ids of a word under the merges that this seed leaves."""
        draw = random.Random(f"{seed} {word}").random
        ids = [self.ids.get(piece, self.tokenizer.unk_id) for piece in self._merge(list(word), draw)]
        return self._fuse(ids) if self.fuses_unknown else ids

    def _merge(self, symbols: list[str], draw: Callable[[], float]) -> list[str]:
        """Merge the best remaining pair until none is left or all were dropped."""
        ranks, probability = self.ranks, self.probability
        while len(symbols) > 1:
            best, best_rank = -1, len(ranks)
            for place in range(len(symbols) - 1):
                rank = ranks.get((symbols[place], symbols[place + 1]))
                # A pair that could not win anyway need not be drawn: the outcome has the same distribution.
                if rank is not None and rank < best_rank and draw() >= probability:
                    best, best_rank = place, rank
            if best < 0:
                break
            symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
        return symbols

    def _fuse(self, ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_id
        return [
            number for place, number in enumerate(ids) if number != unknown or ids[place - 1 : place] != [unknown]
        ]


class DropoutCorpus:
    """Texts that are split anew for each seed, an end token behind each."""

    def __init__(self, texts: Sequence[str], encoder: DropoutEncoder) -> None:
        self.encoder = encoder
        numbers: dict[str, int] = {"": 0}  # no word is empty: this one stands for the end of a text
        words = [[*(numbers.setdefault(word, len(numbers)) for word in encoder.words(text)), 0] for text in texts]
        self.words = np.concatenate([np.asarray(each, np.int64) for each in words])
        self.starts = np.concatenate([[0], np.cumsum([len(each) for each in words])])
        self.spellings = list(numbers)
        # Each word has VARIANTS slots: where its ids begin in `ids`, and how many there are (-1: not yet worked out).
        self.begins = np.zeros(len(numbers) * VARIANTS, np.int64)
        self.lengths = np.full(len(numbers) * VARIANTS, -1, np.int64)
        self.ids = np.zeros(0, np.int32)

    def encode(self, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of all texts laid end to end, and where each text starts (with the end of the last)."""
        draws = np.random.default_rng(seed).integers(0, VARIANTS, len(self.words))
        slots = self.words * VARIANTS + draws
        self._work_out(np.unique(slots[self.lengths[slots] < 0]))
        lengths = self.lengths[slots]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(self.begins[slots] - (ends - lengths), lengths)
        return self.ids[places], np.concatenate([[0], ends])[self.starts]

    def _work_out(self, slots: NDArray[np.int64]) -> None:
        found: list[int] = []
        for slot in slots.tolist():
            word, variant = divmod(slot, VARIANTS)
            ids = self.encoder.split(self.spellings[word], variant) if word else [self.encoder.tokenizer.eos_id]
            self.begins[slot], self.lengths[slot] = len(self.ids) + len(found), len(ids)
            found += ids
        self.ids = np.concatenate([self.ids, np.asarray(found, np.int32)])
