"""Reproducible training: `tokenizers` iterates over hash tables in random order, which these functions undo."""

import json
from collections.abc import Sequence

from tokenizers import Tokenizer as Backend
from tokenizers import models

Scored = tuple[str, float]

PENALTY_STEP = 1e-4
"""Difference between the scores that the library gives to characters the unigram model did not select."""


def without_added(backend: Backend, special: Sequence[str]) -> Backend:
    """Return a WordPiece backend whose added tokens are ordinary ones again; special[1] is the unknown token."""
    vocabulary = json.loads(backend.to_str())["model"]["vocab"]
    fresh = Backend(models.WordPiece(vocabulary, unk_token=special[1], max_input_chars_per_word=100))
    fresh.normalizer, fresh.pre_tokenizer, fresh.decoder = backend.normalizer, backend.pre_tokenizer, backend.decoder
    fresh.add_special_tokens(list(special))
    return fresh


def in_order(backend: Backend, special: Sequence[str]) -> Backend:
    """Sort the vocabulary of a unigram backend by descending score, then alphabetically."""
    entries: list[Scored] = [(token, score) for token, score in json.loads(backend.to_str())["model"]["vocab"]]
    specials, tokens = entries[: len(special)], entries[len(special) :]
    tokens = sorted(((token, round(score, 9)) for token, score in tokens), key=lambda entry: (-entry[1], entry[0]))
    backend.model = models.Unigram(specials + _with_ordered_tail(tokens), 1, False)
    return backend


def _with_ordered_tail(tokens: list[Scored]) -> list[Scored]:
    """Assign the scores of the leftover characters, a step apart in random order, alphabetically."""
    lowest = tokens[-1][1]

    def is_left_over(entry: Scored) -> bool:
        steps = (entry[1] - lowest) / PENALTY_STEP
        return len(entry[0]) == 1 and steps < len(tokens) and abs(steps - round(steps)) < 1e-3

    characters = iter(sorted(token for token, score in tokens if is_left_over((token, score))))
    return [(next(characters), score) if is_left_over((token, score)) else (token, score) for token, score in tokens]
