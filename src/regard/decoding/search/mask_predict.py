"""Mask-predict (Ghazvininejad et al., 2019, §3): parallel prediction of all tokens, then of the least confident anew.

The encoder predicts the output length. Then every token is masked and predicted; each further iteration masks the
tokens with the lowest probability, fewer each time, and predicts them from all others. Several lengths are decoded in
parallel. The log probability of the length counts like that of one more token, as EOS does in autoregressive
decoding: by its tokens alone, too short an output often scores best.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.decoding.settings import MaskPredictDecoding
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.models.base.protocols import ConditionalMaskedLM
from regard.nn.kernels.availability import has_triton
from regard.nn.layers.dtensor import is_whole_on_gpu

LOGITS_AT_ONCE = {"cpu": 2**22, "cuda": 2**27}
"""Logits computed at a time: positions times vocabulary."""
LONGEST_FUSED, LARGEST_FUSED = 128, 65_536
"""Largest output length and vocabulary, in tokens, of the fused kernels for the update between two passes."""
SHORTEST = 2
"""Minimum output length in tokens: a word and EOS."""


@dataclass(frozen=True)
class MaskPredictStep:
    """Outputs after an iteration, one row for each length candidate."""

    tokens: Tensor  # (R, T)
    sure: Tensor  # (R, T) log probability of each token when it was predicted; infinite at EOS and padding
    masked: Tensor  # (R, T) True where this iteration predicted the token


@dataclass(frozen=True)
class Outputs:
    """Outputs that are updated in place."""

    tokens: Tensor  # (R, T)
    confidence: Tensor  # (R, T)
    token_mask: Tensor  # (R, T) False after EOS
    words: Tensor  # (R,) length without EOS


@dataclass(frozen=True)
class MaskPredictState:
    """The constants of a mask-predict search."""

    bos_id: int
    """BOS, which serves as the mask token."""
    eos_id: int
    never: tuple[int, ...]
    iterations: int

    def suppressed_tensor(self, device: torch.device) -> Tensor:
        """Return the suppressed ids as a tensor on a device."""
        return torch.tensor(self.never, dtype=torch.long, device=device)

    @classmethod
    def of(cls, ends: SpecialTokens, settings: MaskPredictDecoding) -> "MaskPredictState":
        """Return the constants of some settings; EOS is suppressed, since the length decides where an output ends."""
        return cls(ends.bos_id, ends.eos_id, tuple(sorted({*ends.never, ends.eos_id})), settings.iterations)


@torch.inference_mode()
def mask_predict(
    model: ConditionalMaskedLM,
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: MaskPredictDecoding,
    watch: Callable[[MaskPredictStep], None] | None = None,
    lengths: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each source (B, S), one for each length candidate, best first.

    `watch` is called after every iteration; `lengths` (B, candidates), EOS included, replace the predicted ones.
    """
    memory = model.encode(source, token_mask)
    if lengths is None:
        lengths, length_scores = likely_lengths(model, memory, settings.length_candidates)  # (B, candidates)
    else:
        length_scores = torch.zeros_like(lengths, dtype=torch.float32)
    memory = model.ready(memory).select(candidate_rows(lengths))
    filling, width = MaskPredictState.of(ends, settings), int(lengths.max())
    never = filling.suppressed_tensor(source.device)
    tokens, confidence = fill_in(model, memory, lengths.flatten(), width, filling, never, watch)
    return in_order(summary(tokens, confidence, lengths, length_scores), lengths.size(1), settings.collapse_repeats)


def candidate_rows(lengths: Tensor) -> Tensor:
    """Return the sentence number of each output (B * candidates,)."""
    return torch.arange(lengths.size(0), device=lengths.device)[:, None].expand_as(lengths).flatten()


def likely_lengths(model: ConditionalMaskedLM, memory: Any, count: int) -> tuple[Tensor, Tensor]:
    """Return the most probable output lengths (B, count), EOS included, and their log probabilities."""
    scores = model.length_scores(memory).float()  # (B, C)
    offsets = torch.arange(scores.size(1), device=scores.device) - model.max_length_offset
    lengths = memory.token_mask.sum(1)[:, None] + offsets
    longest = torch.iinfo(torch.long).max if model.max_positions is None else model.max_positions
    possible = scores.masked_fill((lengths < SHORTEST) | (lengths > longest), -torch.inf).log_softmax(1)
    best = possible.topk(min(count, possible.size(1)), dim=1)
    return lengths.gather(1, best.indices).clamp(SHORTEST, longest), best.values


def fill_in(
    model: ConditionalMaskedLM,
    memory: Any,
    lengths: Tensor,
    width: int,
    filling: MaskPredictState,
    never: Tensor,
    watch: Callable[[MaskPredictStep], None] | None = None,
    is_alone: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the tokens (R, width) of outputs of these lengths (R,), and their log probabilities (R, width).

    Nothing synchronizes with the host, and all shapes follow from R, width and iterations: a CUDA graph can hold it.
    """
    positions = torch.arange(width, device=lengths.device)
    words = lengths - 1
    token_mask, is_word = positions < lengths[:, None], positions < words[:, None]  # (R, T)
    tokens = torch.full_like(token_mask, filling.eos_id, dtype=torch.long)
    confidence = torch.full_like(token_mask, torch.inf, dtype=torch.float32).masked_fill(is_word, -torch.inf)
    is_fused = is_alone and watch is None and can_fuse(tokens, model.head.weight)
    for left in range(filling.iterations, 0, -1):
        most = max(1, (width - 1) * left // filling.iterations)
        if is_fused:
            _fused_iteration(
                model, memory, Outputs(tokens, confidence, token_mask, words), left, most, filling, never
            )
            continue
        counts = (words * left // filling.iterations).clamp_min(1)
        chosen = confidence.sort(stable=True, dim=1).indices[:, :most]  # (R, most) the least confident first
        masked = positions[:most] < counts[:, None]
        tokens = tokens.scatter(1, chosen, tokens.gather(1, chosen).masked_fill(masked, filling.bos_id))
        hidden = _at(model.decode(tokens, memory, token_mask, is_alone), chosen)  # (R, most, D)
        best, values = most_probable(model, hidden, never)
        tokens = tokens.scatter(1, chosen, torch.where(masked, best, tokens.gather(1, chosen)))
        confidence = confidence.scatter(1, chosen, torch.where(masked, values, confidence.gather(1, chosen)))
        if watch is not None:
            watch(MaskPredictStep(tokens, confidence, torch.zeros_like(token_mask).scatter(1, chosen, masked)))
    return tokens, confidence


def can_fuse(tokens: Tensor, weight: Tensor) -> bool:
    """Return True if the fused kernels support outputs (R, T) and a vocabulary of this size."""
    is_small = tokens.size(1) <= LONGEST_FUSED and weight.size(0) <= LARGEST_FUSED
    return is_whole_on_gpu(weight) and is_small and has_triton()


def _fused_iteration(
    model: ConditionalMaskedLM,
    memory: Any,
    outputs: Outputs,
    left: int,
    most: int,
    filling: MaskPredictState,
    never: Tensor,
) -> None:
    """Mask and predict the least confident tokens in place, in few kernels."""
    from regard.decoding.kernels.mask_update import (  # Triton takes a second to load
        mask_least_confident,
        predict_masked,
    )

    tokens, confidence, words = outputs.tokens, outputs.confidence, outputs.words
    chosen = mask_least_confident(tokens, confidence, words, filling.bos_id, left, filling.iterations, most)
    logits = model.project(_at(model.decode(tokens, memory, outputs.token_mask, is_alone=True), chosen))
    predict_masked(logits, never, chosen, words, tokens, confidence, left, filling.iterations)


def _at(hidden: Tensor, chosen: Tensor) -> Tensor:
    """Return the states (R, most, D) at some positions."""
    return hidden.gather(1, chosen[:, :, None].expand(-1, -1, hidden.size(2)))


def most_probable(model: ConditionalMaskedLM, hidden: Tensor, never: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most probable tokens (R, T) for hidden states (R, T, D), and their log probabilities."""
    vocabulary = model.head.weight.size(0)
    rows = max(1, LOGITS_AT_ONCE.get(hidden.device.type, LOGITS_AT_ONCE["cpu"]) // vocabulary)
    chunks = [
        model.project(part).float().log_softmax(1).index_fill_(1, never, -torch.inf).max(1)
        for part in hidden.flatten(0, 1).split(rows)
    ]
    ids, values = (torch.cat(each) for each in ([part.indices for part in chunks], [part.values for part in chunks]))
    return ids.view(hidden.shape[:2]), values.view(hidden.shape[:2])


def summary(tokens: Tensor, confidence: Tensor, lengths: Tensor, length_scores: Tensor) -> Tensor:
    """Return length, log probability of tokens and length, tokens, and those of the tokens: (R, 2 + 2 T).

    Integers up to 2^53 are exact in fp64, and one transfer from the device is faster than three.
    """
    values = confidence.masked_fill(confidence == torch.inf, 0.0)
    totals = values.sum(1, keepdim=True) + length_scores.view(-1, 1)
    parts = lengths.view(-1, 1), totals, tokens, values
    return torch.cat([each.double() for each in parts], dim=1)


def in_order(summaries: Tensor, candidates: int, collapse_repeats: bool) -> list[list[Hypothesis]]:
    """Return the hypotheses of outputs (see `summary`) by sentence, the highest mean log probability first."""
    numbers = summaries.cpu().numpy()
    tokens, log_probabilities = np.split(numbers[:, 2:], 2, axis=1)
    words, values = numbers[:, 0].astype(np.int64) - 1, numbers[:, 1]
    scores = values / (words + 1)
    order = np.argsort(-scores.reshape(-1, candidates), axis=1, kind="stable")
    order += np.arange(len(order))[:, None] * candidates
    return [
        _distinct(
            Hypothesis(_collapsed(ids) if collapse_repeats else ids, [*own, total - sum(own)], score, "eos")
            for ids, own, total, score in (
                (
                    tokens[row, : words[row]].astype(np.int64).tolist(),
                    log_probabilities[row, : words[row]].tolist(),
                    float(values[row]),
                    float(scores[row]),
                )
                for row in rows
            )
        )
        for rows in order.tolist()
    ]


def _collapsed(ids: list[int]) -> list[int]:
    return [token for position, token in enumerate(ids) if not position or token != ids[position - 1]]


def _distinct(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return every output once, without those of an impossible length or of a score that is NaN."""
    distinct: list[Hypothesis] = []
    for hypothesis in hypotheses:
        if math.isfinite(hypothesis.score) and all(hypothesis.ids != other.ids for other in distinct):
            distinct.append(hypothesis)
    return distinct
