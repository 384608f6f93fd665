"""Log probabilities of texts of any length, in windows and batches, back in their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import nn

from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.feeds.windows import slide
from regard.decoding.scoring import TokenScores, label_scores
from regard.errors import ConfigError
from regard.models.base.protocols import CausalLM
from regard.nn.inference.prepacked import packed
from regard.progress import SILENT, Progress

ScoredToken = tuple[float, tuple[tuple[int, float], ...]]
"""The log probability of a token, and the most probable ids at its position with theirs."""


@dataclass(frozen=True)
class ScoringWindow:
    """A stretch of a text: inputs `begin` to `end`, of which those from `first` on have their next token scored."""

    text: int
    begin: int
    first: int
    end: int


def plan_windows(lengths: Sequence[int], window: int | None, stride: int | None) -> list[ScoringWindow]:
    """Return windows in which every token of each text but its first is scored once, texts in their order.

    A window begins `stride` tokens (default: half a window) after the one before, the last where it still is full;
    tokens that the one before has scored are context only. So past the first window each token has at least
    `window - stride` + 1 tokens of context.
    """
    if window is None and stride is not None:
        raise ConfigError(f"stride: {stride} is for models with a context window; this one takes a text as a whole.")
    if window is not None and stride is not None and not 1 <= stride <= window:
        raise ConfigError(f"stride: {stride} does not lie between 1 and {window:,}, the tokens this model takes.")
    step = 1 if window is None else stride or max(1, window // 2)
    reads = [length - 1 for length in lengths]  # nothing follows the last token
    return [
        ScoringWindow(text, *each) for text, read in enumerate(reads) for each in slide(read, window or read, step)
    ]


def text_log_probabilities(
    model: CausalLM,
    texts: Sequences,
    windows: Sequence[ScoringWindow],
    limit: int,
    count: int = 0,
    progress: Progress = SILENT,
) -> list[list[ScoredToken]]:
    """Return the score of each token but the first of each text, with the `count` most probable ids at its position.

    A batch has about `limit` tokens.
    """
    values: list[list[ScoredToken]] = [[] for _ in range(len(texts))]
    by_window: dict[int, list[ScoredToken]] = {}
    lengths = np.array([window.end - window.begin for window in windows], np.int64)
    with progress.bar("score", len(windows)) as bar, packed(cast(nn.Module, model)):
        for rows in micro_batches(np.arange(len(windows)), lengths, np.zeros_like(lengths), limit):
            by_window |= _score_together(model, texts, {row: windows[row] for row in rows.tolist()}, count)
            bar.advance(len(rows))
    for number, window in enumerate(windows):
        values[window.text] += by_window[number]
    return values


def _score_together(
    model: CausalLM, texts: Sequences, windows: dict[int, ScoringWindow], count: int
) -> dict[int, list[ScoredToken]]:
    """Return the scores of each window, all computed in one batch."""
    longest = max(window.end - window.begin for window in windows.values())
    tokens = np.zeros((len(windows), longest), np.int64)  # causal: padding after a row's tokens changes nothing
    positions, labels, sizes = [], [], []
    for row, window in enumerate(windows.values()):
        ids = texts[window.text]
        tokens[row, : window.end - window.begin] = ids[window.begin : window.end]
        positions.append(np.arange(window.first - window.begin, window.end - window.begin) + row * longest)
        labels.append(ids[window.first + 1 : window.end + 1].astype(np.int64))
        sizes.append(window.end - window.first)
    arrays = (tokens, np.concatenate(positions), np.concatenate(labels))
    inputs, at, targets = (torch.from_numpy(each).to(model.head.weight.device) for each in arrays)
    flat = _plain(label_scores(model, inputs, at, targets, count))
    ends = np.cumsum(sizes)
    return {number: flat[end - size : end] for number, size, end in zip(windows, sizes, ends, strict=True)}


def _plain(scores: TokenScores) -> list[ScoredToken]:
    best = zip(scores.best.tolist(), scores.best_log_probabilities.tolist(), strict=True)
    pairs = (tuple(zip(ids, values, strict=True)) for ids, values in best)
    return list(zip(scores.log_probabilities.tolist(), pairs, strict=True))
