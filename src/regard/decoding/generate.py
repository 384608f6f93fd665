"""Generation entry point: a batch of sources in, hypotheses out, by the fastest equivalent implementation."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.decoding.cuda_graphs.beam import Rules, captured_beam_search
from regard.decoding.cuda_graphs.capture import drop_graphs, supports_captured_passes, supports_cuda_graphs
from regard.decoding.cuda_graphs.encoder_decoder import build_stepper
from regard.decoding.cuda_graphs.mask_predict import captured_mask_predict
from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import beam_search
from regard.decoding.search.mask_predict import mask_predict
from regard.decoding.search.rollout import greedy, sample
from regard.decoding.settings import (
    AnyDecodeSettings,
    DecodeSettings,
    MaskPredictDecodeSettings,
)
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.errors import DataError
from regard.models.base.protocols import ConditionalMaskedLM, Seq2Seq
from regard.nn.inference.memory import is_out_of_memory, release_memory
from regard.nn.inference.prepacked import packed
from regard.nn.inference.threads import threads_for
from regard.text.prefix import Prefix


@torch.inference_mode()
def decode(
    models: Any | Sequence[Any],
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: AnyDecodeSettings,
    prefixes: Sequence[Prefix | None] | None = None,
    lines: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each source (B, S), best first, by the method of the settings.

    Several autoregressive models form an ensemble. `prefixes` are forced target prefixes; `lines` are the row
    numbers that seed sampling (default: 0, 1, ...). A batch that runs out of memory is halved and retried.
    """
    members = models if isinstance(models, Sequence) else [models]
    prefixes = prefixes or [None] * len(source)
    lines = range(len(source)) if lines is None else lines
    try:
        return _decode_together(members, source, token_mask, ends, settings, prefixes, lines)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    for member in members:  # outside the handler, whose traceback would keep the failed attempt's tensors alive
        drop_graphs(member)
    release_memory(source.device)
    if len(source) == 1:
        fewer = "length candidates" if isinstance(settings, MaskPredictDecodeSettings) else "beams"
        raise DataError(
            f"Out of memory on a single text of {int(token_mask.sum()):,} tokens with {settings.hypotheses} "
            f"hypotheses; split the text or use fewer {fewer}."
        )
    parts = (slice(None, len(source) // 2), slice(len(source) // 2, None))
    halves = (decode(members, source[p], token_mask[p], ends, settings, prefixes[p], lines[p]) for p in parts)
    return [hypotheses for half in halves for hypotheses in half]


def _decode_together(
    members: Sequence[Any],
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: AnyDecodeSettings,
    prefixes: Sequence[Prefix | None],
    lines: Sequence[int],
) -> list[list[Hypothesis]]:
    is_mask_predict = isinstance(settings, MaskPredictDecodeSettings)
    with ExitStack() as stack:
        for member in members:
            rows = (source.numel() if is_mask_predict else len(source)) * settings.hypotheses
            stack.enter_context(packed(cast(nn.Module, member)))
            stack.enter_context(threads_for(cast(nn.Module, member), rows))
        if isinstance(settings, MaskPredictDecodeSettings):
            return _decode_mask_predict(members[0], source, token_mask, ends, settings)
        assert isinstance(settings, DecodeSettings), "the only other class of settings"
        bound = min((member.max_positions for member in members if member.max_positions is not None), default=None)
        limits = [
            settings.limit(length, bound, len(prefix.choices) if prefix else 0)
            for length, prefix in zip(token_mask.sum(1).tolist(), prefixes, strict=True)
        ]
        return _decode_autoregressive(
            members, source, token_mask, limits, LogitsProcessor(settings, ends, prefixes, source.device), lines
        )


def _decode_mask_predict(
    model: ConditionalMaskedLM,
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: MaskPredictDecodeSettings,
) -> list[list[Hypothesis]]:
    if supports_captured_passes(model):
        hypotheses = captured_mask_predict(model, source, token_mask, ends, settings)
        if hypotheses is not None:
            return hypotheses
    return mask_predict(model, source, token_mask, ends, settings)


def _decode_autoregressive(
    members: Sequence[Seq2Seq],
    source: Tensor,
    token_mask: Tensor,
    limits: Sequence[int],
    constraints: LogitsProcessor,
    lines: Sequence[int],
) -> list[list[Hypothesis]]:
    settings = constraints.settings
    if settings.coverage_penalty:
        coverage = Coverage(members, token_mask)
        with coverage.listening():
            return beam_search(build_stepper(members, source, token_mask), limits, constraints, coverage)
    rules = None
    if settings.method == "beam" and len(members) == 1 and supports_cuda_graphs(members[0]):
        rules = Rules.of(constraints, members[0].head.weight.size(0))
    if rules is not None:
        hypotheses = captured_beam_search(members[0], source, token_mask, limits, constraints, rules)
        if hypotheses is not None:
            return hypotheses
    stepper = build_stepper(members, source, token_mask)
    if settings.method == "sample":
        return sample(stepper, limits, constraints, lines)
    return (greedy if settings.beam_size == 1 else beam_search)(stepper, limits, constraints)
