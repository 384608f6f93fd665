"""Training that repeats: the library visits hash tables in an order of their own, and these functions undo that."""

import json
from collections.abc import Sequence

from tokenizers import Tokenizer as Backend
from tokenizers import models

Scored = tuple[str, float]

PENALTY_STEP = 1e-4
"""How far apart the library puts the scores of characters that the unigram model itself did not choose."""


def without_added(backend: Backend, special: Sequence[str]) -> Backend:
    """Return a WordPiece backend in which the pieces that were named beforehand are ordinary pieces again.

    The second of the special tokens stands for what is unknown.
    """
    vocabulary = json.loads(backend.to_str())["model"]["vocab"]
    fresh = Backend(models.WordPiece(vocabulary, unk_token=special[1], max_input_chars_per_word=100))
    fresh.normalizer, fresh.pre_tokenizer, fresh.decoder = backend.normalizer, backend.pre_tokenizer, backend.decoder
    fresh.add_special_tokens(list(special))
    return fresh


def in_order(backend: Backend, special: Sequence[str]) -> Backend:
    """Give a unigram backend its pieces by falling score, ties by the alphabet."""
    entries: list[Scored] = [(piece, score) for piece, score in json.loads(backend.to_str())["model"]["vocab"]]
    specials, pieces = entries[: len(special)], entries[len(special) :]
    pieces = sorted(((piece, round(score, 9)) for piece, score in pieces), key=lambda entry: (-entry[1], entry[0]))
    backend.model = models.Unigram(specials + _with_ordered_tail(pieces), 1, False)
    return backend


def _with_ordered_tail(pieces: list[Scored]) -> list[Scored]:
    """Hand the scores of the characters left over, which lie a step apart in no order, out by the alphabet."""
    lowest = pieces[-1][1]

    def is_left_over(entry: Scored) -> bool:
        steps = (entry[1] - lowest) / PENALTY_STEP
        return len(entry[0]) == 1 and steps < len(pieces) and abs(steps - round(steps)) < 1e-3

    characters = iter(sorted(piece for piece, score in pieces if is_left_over((piece, score))))
    return [(next(characters), score) if is_left_over((piece, score)) else (piece, score) for piece, score in pieces]
