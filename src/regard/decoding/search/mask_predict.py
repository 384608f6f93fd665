"""Mask-predict (Ghazvininejad et al., 2019, §3): all words of an output at once, and the least sure ones anew.

First the encoder says how long the output may be. Then every word is masked and filled in; in each further pass the
words that the model was least sure of are masked once more, fewer from pass to pass, and filled in with all others in
view. Several lengths are tried side by side. What the model gives the length counts as one word more, as the end
does where words come one after the other: by its words alone, too short an output is often the surest.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.decoding.settings import MaskPredictDecodeSettings
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.models.base.protocols import ConditionalMaskedLM
from regard.nn.kernels.availability import has_triton

LOGITS_AT_ONCE = {"cpu": 2**22, "cuda": 2**27}
LONGEST_FUSED, LARGEST_FUSED = 128, 65_536
"""Tokens of an output, and of the vocabulary, up to which kernels of our own do what lies between two passes."""
SHORTEST = 2
"""Tokens of an output: a word, and the end."""


@dataclass(frozen=True)
class MaskPredictStep:
    """How outputs stand after a pass, one row for each length that is tried."""

    tokens: Tensor  # (R, T)
    sure: Tensor  # (R, T) log probability of each word when it was filled in; infinite where there is none
    masked: Tensor  # (R, T) True where a word was filled in by this pass


@dataclass(frozen=True)
class Outputs:
    """Outputs that are changed where they stand."""

    tokens: Tensor  # (R, T)
    sure: Tensor  # (R, T)
    token_mask: Tensor  # (R, T) False behind the end
    words: Tensor  # (R,) without the end


@dataclass(frozen=True)
class MaskPredictState:
    """What decides how outputs are filled in."""

    bos_id: int
    """What stands for a masked word."""
    eos_id: int
    never: tuple[int, ...]
    iterations: int

    def struck_out(self, device: torch.device) -> Tensor:
        """Return the tokens that are never said, where the outputs are."""
        return torch.tensor(self.never, dtype=torch.long, device=device)

    @classmethod
    def of(cls, ends: SpecialTokens, settings: MaskPredictDecodeSettings) -> "MaskPredictState":
        """Return the rules that the settings ask for; the length alone says where an output ends."""
        return cls(ends.bos_id, ends.eos_id, tuple(sorted({*ends.never, ends.eos_id})), settings.iterations)


@torch.inference_mode()
def mask_predict(
    model: ConditionalMaskedLM,
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: MaskPredictDecodeSettings,
    watch: Callable[[MaskPredictStep], None] | None = None,
    lengths: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each source (B, S), one for each length tried, best first.

    `watch` sees all passes; `lengths` (B, candidates), end token included, are tried in place of the most probable.
    """
    memory = model.encode(source, token_mask)
    if lengths is None:
        lengths, chances = likely_lengths(model, memory, settings.length_candidates)  # (B, candidates)
    else:
        chances = torch.zeros_like(lengths, dtype=torch.float32)
    memory = model.ready(memory).select(candidate_rows(lengths))
    filling, width = MaskPredictState.of(ends, settings), int(lengths.max())
    never = filling.struck_out(source.device)
    tokens, sure = fill_in(model, memory, lengths.flatten(), width, filling, never, watch)
    return in_order(summary(tokens, sure, lengths, chances), lengths.size(1), settings.collapse_repeats)


def candidate_rows(lengths: Tensor) -> Tensor:
    """Return the sentence of each output (B * candidates,)."""
    return torch.arange(lengths.size(0), device=lengths.device)[:, None].expand_as(lengths).flatten()


def likely_lengths(model: ConditionalMaskedLM, memory: Any, count: int) -> tuple[Tensor, Tensor]:
    """Return the most probable lengths (B, count) of outputs, end token included, and their log probabilities."""
    scores = model.length_scores(memory).float()  # (B, C)
    longer = torch.arange(scores.size(1), device=scores.device) - model.max_length_offset
    lengths = memory.token_mask.sum(1)[:, None] + longer
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
    """Return the tokens (R, width) of outputs of these lengths (R,), and how sure each word is.

    Everything stays on the device, and all shapes follow from R, the width and the passes: it can be recorded.
    """
    places = torch.arange(width, device=lengths.device)
    words = lengths - 1
    token_mask, is_word = places < lengths[:, None], places < words[:, None]  # (R, T)
    tokens = torch.full_like(token_mask, filling.eos_id, dtype=torch.long)
    sure = torch.full_like(token_mask, torch.inf, dtype=torch.float32).masked_fill(is_word, -torch.inf)
    is_fused = is_alone and watch is None and can_fuse(tokens, model.head.weight)
    for left in range(filling.iterations, 0, -1):
        most = max(1, (width - 1) * left // filling.iterations)
        if is_fused:
            _go_over(model, memory, Outputs(tokens, sure, token_mask, words), left, most, filling, never)
            continue
        counts = (words * left // filling.iterations).clamp_min(1)
        chosen = sure.sort(stable=True, dim=1).indices[:, :most]  # (R, most) the least sure ones first
        masked = places[:most] < counts[:, None]
        tokens = tokens.scatter(1, chosen, tokens.gather(1, chosen).masked_fill(masked, filling.bos_id))
        hidden = _at(model.decode(tokens, memory, token_mask, is_alone), chosen)  # (R, most, D)
        best, values = most_probable(model, hidden, never)
        tokens = tokens.scatter(1, chosen, torch.where(masked, best, tokens.gather(1, chosen)))
        sure = sure.scatter(1, chosen, torch.where(masked, values, sure.gather(1, chosen)))
        if watch is not None:
            watch(MaskPredictStep(tokens, sure, torch.zeros_like(token_mask).scatter(1, chosen, masked)))
    return tokens, sure


def can_fuse(tokens: Tensor, weight: Tensor) -> bool:
    """Tell whether kernels of our own mask and say the words of outputs (R, T)."""
    return tokens.is_cuda and tokens.size(1) <= LONGEST_FUSED and weight.size(0) <= LARGEST_FUSED and has_triton()


def _go_over(
    model: ConditionalMaskedLM,
    memory: Any,
    outputs: Outputs,
    left: int,
    most: int,
    filling: MaskPredictState,
    never: Tensor,
) -> None:
    """Mask and say the least sure words in place, in few kernels."""
    from regard.decoding.kernels.mask_update import mask_least_sure, say_masked  # the compiler takes a second to load

    tokens, sure, words = outputs.tokens, outputs.sure, outputs.words
    chosen = mask_least_sure(tokens, sure, words, filling.bos_id, left, filling.iterations, most)
    logits = model.project(_at(model.decode(tokens, memory, outputs.token_mask, is_alone=True), chosen))
    say_masked(logits, never, chosen, words, tokens, sure, left, filling.iterations)


def _at(hidden: Tensor, chosen: Tensor) -> Tensor:
    """Return the states (R, most, D) of some places."""
    return hidden.gather(1, chosen[:, :, None].expand(-1, -1, hidden.size(2)))


def most_probable(model: ConditionalMaskedLM, hidden: Tensor, never: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most probable words (R, T) for hidden states (R, T, D), and their log probabilities."""
    vocabulary = model.head.weight.size(0)
    rows = max(1, LOGITS_AT_ONCE.get(hidden.device.type, LOGITS_AT_ONCE["cpu"]) // vocabulary)
    found = [
        model.project(part).float().log_softmax(1).index_fill_(1, never, -torch.inf).max(1)
        for part in hidden.flatten(0, 1).split(rows)
    ]
    ids, values = (torch.cat(each) for each in ([part.indices for part in found], [part.values for part in found]))
    return ids.view(hidden.shape[:2]), values.view(hidden.shape[:2])


def summary(tokens: Tensor, sure: Tensor, lengths: Tensor, chances: Tensor) -> Tensor:
    """Return the length, the log probability of words and length, and the tokens of each output: (R, 2 + T).

    Numbers up to 2^53 are whole in fp64, and one way from the device is shorter than three.
    """
    totals = sure.masked_fill(sure == torch.inf, 0.0).sum(1, keepdim=True) + chances.view(-1, 1)
    return torch.cat((lengths.view(-1, 1).double(), totals.double(), tokens.double()), dim=1)


def in_order(found: Tensor, candidates: int, collapse_repeats: bool) -> list[list[Hypothesis]]:
    """Return hypotheses of outputs that are summed up, by sentence, the surest in the mean first."""
    numbers = found.cpu().numpy()
    said = numbers[:, 2:].astype(np.int64).tolist()
    words, values = numbers[:, 0].astype(np.int64) - 1, numbers[:, 1]
    scores = values / (words + 1)
    order = np.argsort(-scores.reshape(-1, candidates), axis=1, kind="stable")
    order += np.arange(len(order))[:, None] * candidates
    return [
        _without_doubles(
            Hypothesis(_merged(ids) if collapse_repeats else ids, value, score, is_finished=True)
            for ids, value, score in (
                (said[row][: words[row]], float(values[row]), float(scores[row])) for row in rows
            )
        )
        for rows in order.tolist()
    ]


def _merged(ids: list[int]) -> list[int]:
    return [token for place, token in enumerate(ids) if not place or token != ids[place - 1]]


def _without_doubles(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return each output once; none of a length that cannot be, or where weights are not numbers."""
    found: list[Hypothesis] = []
    for hypothesis in hypotheses:
        if math.isfinite(hypothesis.score) and all(hypothesis.ids != other.ids for other in found):
            found.append(hypothesis)
    return found
