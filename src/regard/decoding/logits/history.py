"""Generated tokens of all rows of a search and their log probabilities, on the host."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.decoding.steppers.interface import Request

TOKEN = np.dtype([("id", np.int32), ("log_p", np.float32)])
"""Both in one array, so that reordering rows copies once."""
FEWEST = 32
"""Tokens that a row has room for at first."""


class History:
    """The rows of a search, the same number for each request; their newest tokens are aligned."""

    def __init__(self, eos_id: int, has_prompts: bool) -> None:
        self.eos_id, self.has_prompts = eos_id, has_prompts
        self.requests: list[Request] = []
        self.lengths = np.zeros(0, np.int64)
        """New tokens of each row."""
        self.prefix_steps = 0
        """Tokens of the longest forced prefix."""
        self._tokens = np.zeros((0, FEWEST), TOKEN)
        self._end = 0

    def admit(self, requests: Sequence[Request], rows: int) -> None:
        """Add rows without new tokens, some for each request."""
        self.requests += requests
        self.prefix_steps = max(len(each.prefix.choices) if each.prefix else 0 for each in self.requests)
        self.lengths = np.concatenate((self.lengths, np.zeros(rows, np.int64)))
        self._tokens = np.concatenate((self._tokens, np.zeros((rows, self._tokens.shape[1]), TOKEN)))

    def select(self, rows: NDArray[np.int64], requests: Sequence[int] | None = None) -> None:
        """Select rows, in this order, and the requests that stay (default: all)."""
        self._tokens, self.lengths = self._tokens[rows], self.lengths[rows]
        if requests is not None:
            self.requests = [self.requests[number] for number in requests]

    def append(self, ids: NDArray[np.int64], log_probabilities: NDArray[np.float64]) -> None:
        """Append a token to each row."""
        if self._end == self._tokens.shape[1]:
            kept = self._tokens[:, self._end - self.longest :]
            self._end = kept.shape[1]
            self._tokens = np.zeros((len(kept), max(FEWEST, 2 * self._end)), TOKEN)
            self._tokens[:, : self._end] = kept
        newest = self._tokens[:, self._end]
        newest["id"], newest["log_p"] = ids, log_probabilities
        self._end += 1
        self.lengths += 1

    @property
    def longest(self) -> int:
        """The number of new tokens of the longest row."""
        return int(self.lengths.max(initial=0))

    def ids(self, row: int) -> list[int]:
        """Return the new tokens of a row."""
        tokens: list[int] = self._tokens["id"][row, self._end - self.lengths[row] : self._end].tolist()
        return tokens

    def log_probabilities(self, row: int) -> list[float]:
        """Return the log probabilities of the new tokens of a row."""
        values: list[float] = self._tokens["log_p"][row, self._end - self.lengths[row] : self._end].tolist()
        return values

    def request(self, row: int) -> Request:
        """Return the request that a row is an output of."""
        return self.requests[row // (len(self.lengths) // len(self.requests))]

    def same_length(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the rows whose pasts are of one length, and these (rows, L): prompt and new tokens, without EOS."""
        count = len(self.lengths)
        shortest = int(self.lengths.min(initial=0))
        if not self.has_prompts and shortest == self.longest:
            yield np.arange(count), self._tokens["id"][:, self._end - shortest : self._end].astype(np.int64)
            return
        pasts = []
        for row in range(count):
            prompt = self.request(row).ids if self.has_prompts else []
            pasts.append([token for token in (*prompt, *self.ids(row)) if token != self.eos_id])
        lengths = np.array([len(past) for past in pasts])
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            yield rows, np.array([pasts[row] for row in rows], np.int64).reshape(len(rows), -1)
