"""Scoring of texts of any length: log probabilities in windows and batches, back in their order."""

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import nn

from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.feeds.windows import slide
from regard.decoding.scoring import TokenScores, label_scores
from regard.errors import ConfigError
from regard.models.base.protocols import CausalLM
from regard.nn.inference.int8 import without_int8
from regard.nn.inference.prepacked import packed
from regard.nn.probes.probe import probes
from regard.pipelines.base import Pipeline
from regard.pipelines.inputs import SingleText, check_text
from regard.progress import SILENT, Progress
from regard.tasks.language_model.options import TextScoreOptions
from regard.tasks.language_model.quantization import WeightsCost, weights_cost
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.language_model.results import NextToken, TextScore

if TYPE_CHECKING:
    from regard.tasks.language_model.pipeline import Generator

ScoredToken = tuple[float, tuple[tuple[int, float], ...]]
"""The log probability of a token, and the most probable ids at its position with theirs."""


class TextScorer(Pipeline[SingleText, TextScoreOptions, TextScore]):
    """A language model that scores given texts."""

    row = SingleText
    inputs = ("text",)
    options_class = TextScoreOptions

    def __init__(self, generator: "Generator") -> None:
        super().__init__(generator.bundle)
        self.generator, self.origin, self.tokenizer = generator, generator.origin, generator.tokenizer

    def check(self, row: SingleText, options: TextScoreOptions, where: str) -> None:
        """Refuse what is not text."""
        check_text(row.text, where, may_be_blank=True)

    def predict(
        self, rows: Sequence[SingleText], options: TextScoreOptions, progress: Progress = SILENT
    ) -> list[TextScore]:
        """Return the log probability of each token of each text, the first one given EOS.

        A text longer than the model's window is scored in windows (`reach`, `plan_windows`).
        """
        end = self.tokenizer.eos_id
        last = [end] if options.score_eos else []
        encoded = [[end, *ids, *last] for ids in self.tokenizer.encode_batch([row.text for row in rows])]
        scored = self.scored(encoded, options, progress)
        return [self._score(row, ids[1:], each) for row, ids, each in zip(rows, encoded, scored, strict=True)]

    def scored(
        self, encoded: Sequence[Sequence[int]], options: TextScoreOptions, progress: Progress = SILENT
    ) -> list[list[ScoredToken]]:
        """Return the score of each token but the first, of texts as ids."""
        windows = plan_windows([len(ids) for ids in encoded], self.reach, options.stride)
        if not windows:
            return [[] for _ in encoded]
        limit = self.generator.batch_tokens
        with self.generator.locked(), without_int8(self.model) if options.full else nullcontext():
            texts = Sequences.of(encoded)
            return text_log_probabilities(self.model, texts, windows, limit, options.alternatives, progress)

    def weights_cost(self, texts: Sequence[str | Sequence[int]], progress: Progress = SILENT) -> WeightsCost:
        """Return the increase in perplexity due to quantized weights on texts, or on their ids."""
        if self.generator.quantize == "none":
            raise ConfigError(
                "quantize: this model has its full weights, so there is no cost; load it with int8 weights."
            )
        ids = [self.tokenizer.encode(text).ids if isinstance(text, str) else text for text in texts]
        rows = [[self.tokenizer.eos_id, *each] for each in ids]
        both = [self.scored(rows, TextScoreOptions(full=full), progress) for full in (True, False)]
        full, quantized = ([[value for value, _ in text] for text in scored] for scored in both)
        return weights_cost(full, quantized)

    @property
    def reach(self) -> int | None:
        """The context window for scoring in tokens: the model's maximum, or the window it was trained with.

        None for a recurrent model, whose state holds a text of any length.
        """
        if self.model.max_positions is not None:
            return int(self.model.max_positions)
        attends = any(name.endswith("attention.weights") for name in probes(self.model))
        return LanguageFacts.read(self.bundle).window if attends else None

    def _score(self, row: SingleText, ids: Sequence[int], scored: Sequence[ScoredToken]) -> TextScore:
        best = tuple(self._next(choices) for _, choices in scored if choices)
        values = tuple(value for value, _ in scored)
        return TextScore(row, tuple(self.tokenizer.tokens(ids)), tuple(ids), values, best)

    def _next(self, choices: Sequence[tuple[int, float]]) -> tuple[NextToken, ...]:
        tokens = self.tokenizer.tokens([number for number, _ in choices])
        return tuple(
            NextToken(token, number, math.exp(value)) for token, (number, value) in zip(tokens, choices, strict=True)
        )


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
