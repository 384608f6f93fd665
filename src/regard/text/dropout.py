"""BPE dropout from a seed: `tokenizers` draws its own from the operating system and cannot be repeated."""

import json
import random
from collections.abc import Callable, Sequence

from regard.errors import ConfigError
from regard.text.tokenizer import Tokenizer

UNSUPPORTED = ("end_of_word_suffix", "continuing_subword_prefix", "byte_fallback", "ignore_merges")
"""Ways in which a BPE model made elsewhere may differ from what is merged here."""


class DropoutEncoder:
    """Encodes text with a share of the BPE merges left out (Provilkov et al., 2020, §3)."""

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

    def encode(self, text: str, seed: int) -> list[int]:
        """Return the ids of a text under the merges that this seed leaves."""
        backend = self.tokenizer.backend
        draw = random.Random(seed).random
        text = backend.normalizer.normalize_str(text) if backend.normalizer else text
        ids: list[int] = []
        for word, _ in backend.pre_tokenizer.pre_tokenize_str(text):
            pieces = [self.ids.get(piece, self.tokenizer.unknown) for piece in self._merge(list(word), draw)]
            ids += self._fuse(pieces) if self.fuses_unknown else pieces
        return ids

    def encode_batch(self, texts: Sequence[str], seed: int) -> list[list[int]]:
        """Return the ids of many texts; each draws from its own place in the seed."""
        return [self.encode(text, seed * 0x9E3779B97F4A7C15 + index) for index, text in enumerate(texts)]

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
        unknown = self.tokenizer.unknown
        return [
            number for place, number in enumerate(ids) if number != unknown or ids[place - 1 : place] != [unknown]
        ]
