"""Byte-pair merges of one word, step by step, with the merges that a tokenizer has learned."""

from dataclasses import dataclass
from itertools import pairwise

from regard.config.parsing import parse_json
from regard.errors import DataError
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Merge:
    """One merge: the pair, its rank among all that were learned (0: the first), and the tokens after it."""

    left: str
    right: str
    rank: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Merges:
    """The characters of a word, and the merges that make its tokens of them."""

    characters: tuple[str, ...]
    steps: tuple[Merge, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the word."""
        return self.steps[-1].tokens if self.steps else self.characters


def merge_ranks(tokenizer: Tokenizer) -> dict[tuple[str, str], int]:
    """Return the rank of every pair that a BPE tokenizer merges; another kind of tokenizer is refused."""
    definition = parse_json(tokenizer.to_json())
    model = definition.get("model") if isinstance(definition, dict) else None
    if not isinstance(model, dict) or model.get("type") != "BPE":
        raise DataError(f"This tokenizer is of the kind {tokenizer.kind}, which has no merges; choose one with BPE.")
    pairs = (each.split(" ") if isinstance(each, str) else each for each in model["merges"])
    return {(left, right): rank for rank, (left, right) in enumerate(pairs)}


def merges_of(tokenizer: Tokenizer, word: str, ranks: dict[tuple[str, str], int] | None = None) -> list[Merges]:
    """Return the merges of each part that a text is split into: the lowest rank first, left to right."""
    ranks = merge_ranks(tokenizer) if ranks is None else ranks
    return [_merges(part, ranks) for part in tokenizer.words(word)]


def _merges(word: str, ranks: dict[tuple[str, str], int]) -> Merges:
    tokens, steps = tuple(word), list[Merge]()
    while True:
        pairs = [(ranks[pair], number) for number, pair in enumerate(pairwise(tokens)) if pair in ranks]
        if not pairs:
            return Merges(tuple(word), tuple(steps))
        rank, number = min(pairs)
        left, right = tokens[number], tokens[number + 1]
        tokens = (*tokens[:number], left + right, *tokens[number + 2 :])
        steps.append(Merge(left, right, rank, tokens))
