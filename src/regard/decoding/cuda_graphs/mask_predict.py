"""Mask-predict in CUDA graphs: one for encoder and length prediction, one for all iterations of the decoder.

The host reads the predicted lengths alone, since they determine the width of the outputs.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphCache, graph_cache
from regard.decoding.search.mask_predict import (
    MaskPredictState,
    candidate_rows,
    fill_in,
    in_order,
    likely_lengths,
    summary,
)
from regard.decoding.settings import MaskPredictDecoding
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.models.base.protocols import ConditionalMaskedLM

LARGEST = 2**14
"""Output positions, padding included, up to which a graph is worth it; beyond, the device is busy anyway."""
FINEST = 8
"""Multiple that lengths are padded to; attention would pad others itself, once in every layer."""


@dataclass(frozen=True)
class MaskPredictGraphKey:
    """The capacity of a graph; sizes are padded to buckets, so that few graphs serve all batches."""

    sentences: int
    length: int
    width: int = 0
    """Width of the outputs; 0 for the encoder's graph."""


def padded_to_bucket(size: int, finest: int = FINEST) -> int:
    """Return the next size with at most three significant bits that is a multiple of the finest step."""
    step = max(finest, 1 << max(0, size.bit_length() - 3))
    return -(-size // step) * step


class EncoderGraph(CapturedGraph):
    """The encoder and the most probable output lengths."""

    def __init__(self, model: Any, shape: MaskPredictGraphKey, device: torch.device, candidates: int) -> None:
        B, S = shape.sentences, shape.length
        # Weak, so that the graphs do not keep their model alive.
        self.shape, self.candidates, self._model = shape, candidates, weakref.ref(model)
        self.source = torch.zeros(B, S, dtype=torch.long, device=device)
        self.tokens = self.source
        self.token_mask = torch.ones(B, S, dtype=torch.bool, device=device)
        self.memory: Any = None
        self.lengths = self.length_scores = torch.zeros(0)  # (B, candidates)
        self._graphs = {}

    @property
    def size(self) -> int:
        """Bytes held by the projected memory."""
        return sum(each.nbytes for pair in self.memory.projected for each in pair)

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """The captured function by name."""
        return {"encode": self._encode}

    def take(self, source: Tensor, token_mask: Tensor) -> None:
        """Encode sources (b, S); unused rows attend to one position, so that no NaN arises."""
        b, S = source.shape
        self.token_mask.zero_()
        self.token_mask[b:, 0] = True
        self.token_mask[:b, :S] = token_mask
        self.source[:b, :S] = source
        self.run("encode")

    def _encode(self) -> None:
        model = self._model()
        assert model is not None, "the caller holds it"
        memory = model.encode(self.source, self.token_mask, is_alone=True)
        self.lengths, self.length_scores = likely_lengths(model, memory, self.candidates)
        self.memory = model.ready(memory).select(candidate_rows(self.lengths))


class MaskPredictGraph(CapturedGraph):
    """All iterations over the outputs of encoded sources."""

    def __init__(
        self,
        model: Any,
        shape: MaskPredictGraphKey,
        device: torch.device,
        filling: MaskPredictState,
        sources: EncoderGraph,
        pool: Any = None,
    ) -> None:
        rows = shape.sentences * sources.candidates
        self.shape, self.filling, self.sources, self.pool = shape, filling, sources, pool
        self._model = weakref.ref(model)
        self.never = filling.suppressed_tensor(device)
        self.tokens = torch.zeros(rows, shape.width, dtype=torch.long, device=device)
        self.summaries = torch.zeros(0)  # (R, 2 + T) of all outputs, see `summary`
        self._graphs = {}

    @property
    def size(self) -> int:
        """Bytes held; the memory of intermediate tensors is shared by all graphs of this class."""
        return self.tokens.nbytes + self.summaries.nbytes

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """The captured function by name."""
        return {"fill": self._fill}

    def _fill(self) -> None:
        model = self._model()
        assert model is not None, "the caller holds it"
        lengths = self.sources.lengths.flatten().clamp_max(self.shape.width)  # unused rows may be longer
        arguments = model, self.sources.memory, lengths, self.shape.width, self.filling, self.never
        self.tokens, confidence = fill_in(*arguments, is_alone=True)
        self.summaries = summary(self.tokens, confidence, self.sources.lengths, self.sources.length_scores)


def captured_mask_predict(
    model: ConditionalMaskedLM,
    source: Tensor,
    token_mask: Tensor,
    ends: SpecialTokens,
    settings: MaskPredictDecoding,
) -> list[list[Hypothesis]] | None:
    """Return the result of `mask_predict`; None where a shape is new or too large, or memory does not suffice."""
    graphs = graph_cache(model)
    (B, S), bound = source.shape, model.max_positions
    most = padded_to_bucket(S) if bound is None else min(padded_to_bucket(S), bound)
    shape = MaskPredictGraphKey(padded_to_bucket(B, finest=1), most)
    rows = shape.sentences * settings.length_candidates
    if rows * shape.length > LARGEST or graphs.is_new((shape, settings)):
        return None
    sources = graphs.of(EncoderGraph, shape, settings.length_candidates)
    if sources is None:
        return None
    sources.take(source, token_mask)
    width = padded_to_bucket(int(sources.lengths[:B].max()))
    shape = MaskPredictGraphKey(shape.sentences, shape.length, width if bound is None else min(width, bound))
    if rows * shape.width > LARGEST:
        return None
    filling = MaskPredictState.of(ends, settings)
    outputs = graphs.of(MaskPredictGraph, shape, filling, sources, _pool(graphs, source.device))
    if outputs is None:
        return None
    outputs.run("fill")
    candidates = sources.lengths.size(1)
    return in_order(outputs.summaries[: B * candidates], candidates, settings.collapse_repeats)


def _pool(graphs: GraphCache, device: torch.device) -> Any:
    """Return the memory pool that all decoder graphs share: they run one after the other."""
    if device.type == "cuda" and graphs.pool is None:
        graphs.pool = torch.cuda.graph_pool_handle()
    return graphs.pool
