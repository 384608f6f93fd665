"""Label-smoothed cross-entropy straight from hidden states: logits exist a chunk at a time, and never twice."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.nn.kernels.availability import has_triton
from regard.nn.layers.linear import as_product

CHUNK_ELEMENTS = {"cpu": 2**22}
"""Logits held at once on devices of a kind: what a cache likes on a CPU; a GPU holds a share of its memory."""
SHARE_OF_MEMORY = 1 / 32
"""Of a GPU, for logits in two bytes each: the fewer the chunks, the fewer times a gradient is added to the last."""
GOOD_SIZE = 64
"""Of a vocabulary on a GPU: products with 50,257 columns take several times as long as with 50,304."""


def chunk_rows(hidden: Tensor, V: int) -> Iterator[slice]:
    """Yield parts of the rows (N, D) whose logits (n, V) are held at once."""
    rows = max(1, _chunk_elements(hidden.device) // V)
    for start in range(0, hidden.size(0), rows):
        yield slice(start, start + rows)


def _chunk_elements(device: torch.device) -> int:
    if device.type == "cuda" and device.type not in CHUNK_ELEMENTS:
        return int(torch.cuda.get_device_properties(device).total_memory * SHARE_OF_MEMORY / 2)
    return CHUNK_ELEMENTS.get(device.type, 2**24)


class CrossEntropy(NamedTuple):
    """Sums over all labels: the smoothed loss to learn from, and the plain negative log probability to report."""

    smoothed: Tensor
    plain: Tensor


def cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float = 0.0
) -> CrossEntropy:
    """Return the cross-entropy of labels (N,) under softmax(hidden (N, D) · weightᵀ (D, V) + bias).

    A negative label is none: its row adds nothing to sums and gradients.

    The target puts 1 - smoothing on the label and spreads the rest evenly over the *other* V - 1 words.
    """
    # The last norm may have left fp32, and this is the largest product of all.
    return CrossEntropy(*_ChunkedCrossEntropy.apply(as_product(hidden), weight, bias, labels, smoothing))


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Computes the gradients while the logits are at hand, instead of keeping or recomputing them."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        with torch.autocast(hidden.device.type, enabled=False):
            kind = _FusedChunks if can_fuse(hidden) else _Chunks
            chunks = kind(hidden.detach(), weight.detach(), bias, labels, smoothing)
            if any(ctx.needs_input_grad[:3]):
                ctx.save_for_backward(*chunks.with_gradients())
            else:
                chunks.without_gradients()
        ctx.mark_non_differentiable(chunks.plain)
        return chunks.smoothed, chunks.plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [None if g is None else g * upstream.to(g.dtype) for g in ctx.saved_tensors]
        return *gradients, None, None


def can_fuse(hidden: Tensor) -> bool:
    """Tell whether a kernel of ours does the work: on a CUDA device, with the compiler that torch brings along."""
    return hidden.is_cuda and hidden.dtype != torch.float64 and has_triton()


class _Chunks:
    """The rows of one call, a chunk at a time; sums in fp32 or better whatever the rows are in."""

    def __init__(self, hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float) -> None:
        self.token_mask = (labels >= 0).to(hidden.dtype)[:, None]  # (N, 1)
        self.hidden, self.raw_labels, self.smoothing = hidden, labels, smoothing
        self.labels = labels.clamp_min(0)[:, None]
        self.weight = weight.to(hidden.dtype)
        self.bias = None if bias is None else bias.detach().to(hidden.dtype)
        self.V = weight.size(0)
        self.other = smoothing / (self.V - 1)
        self.wide = torch.promote_types(hidden.dtype, torch.float32)
        self.weight_sum = self.weight.sum(0, dtype=self.wide)  # (D,)
        self.bias_sum = 0.0 if self.bias is None else self.bias.sum(dtype=self.wide)
        self.plain = torch.zeros((), dtype=self.wide, device=hidden.device)
        self.smoothed = torch.zeros_like(self.plain)

    def parts(self) -> Iterator[slice]:
        return chunk_rows(self.hidden, self.V)

    def log_probabilities(self, part: slice) -> Tensor:
        """Return log p (n, V) of one chunk, and add its losses to the sums."""
        x, y = self.hidden[part], self.labels[part]
        logits = F.linear(x, self.weight, self.bias).to(self.wide)  # (n, V)
        log_p = logits.log_softmax(1)
        surprise = -log_p.gather(1, y).squeeze(1)  # (n,)
        # -Σ_v log p_v = V · log Z - Σ_v logit_v, and both terms come cheaper than another pass over (n, V).
        log_z = logits.gather(1, y).squeeze(1) + surprise
        everything = self.V * log_z - (x.to(self.wide) @ self.weight_sum + self.bias_sum)
        token_mask = self.token_mask[part].squeeze(1)
        self.plain += (token_mask * surprise).sum()
        self.smoothed += (token_mask * ((1 - self.smoothing) * surprise + self.other * (everything - surprise))).sum()
        return log_p

    def without_gradients(self) -> None:
        for part in self.parts():
            self.log_probabilities(part)

    def with_gradients(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return d smoothed / d (hidden, weight, bias)."""
        grad_hidden = torch.empty_like(self.hidden)
        grad_weight = torch.zeros_like(self.weight, dtype=self.wide)
        grad_bias = None if self.bias is None else torch.zeros_like(self.bias, dtype=self.wide)
        for part in self.parts():
            x, y = self.hidden[part] * self.token_mask[part], self.labels[part]
            # d / d logit = p - other, but p - (1 - smoothing) at the label; `other` everywhere follows at the end.
            p = self.log_probabilities(part).exp_()
            p.scatter_add_(1, y, p.new_full(y.shape, self.smoothing + self.other - 1))
            if grad_bias is not None:
                grad_bias += self.token_mask[part].squeeze(1).to(p.dtype) @ p
            p = p.to(self.hidden.dtype)
            torch.mm(p, self.weight, out=grad_hidden[part])
            if p.dtype == self.wide:
                grad_weight.addmm_(p.T, x)
            else:
                grad_weight += p.T @ x
        grad_hidden -= (self.other * self.weight_sum).to(grad_hidden.dtype)
        grad_hidden *= self.token_mask
        grad_weight -= self.other * (self.hidden * self.token_mask).sum(0, dtype=self.wide)
        if grad_bias is not None:
            grad_bias -= self.other * self.token_mask.sum()
        return grad_hidden, grad_weight, grad_bias


def wide_product(first: Tensor, second: Tensor) -> Tensor:
    """Return first · second in fp32 or better, not rounded to the type of the factors if the GPU can write it so."""
    wide = torch.promote_types(first.dtype, torch.float32)
    if first.is_cuda and first.dtype != wide:
        return torch.mm(first, second, out_dtype=wide)
    return (first @ second).to(wide)


class _FusedChunks(_Chunks):
    """The same, with everything between the products in one kernel; the vocabulary filled up to a good size."""

    def __init__(self, hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float) -> None:
        super().__init__(hidden, weight, bias, labels, smoothing)
        more = -self.V % GOOD_SIZE
        if more:
            self.weight = F.pad(self.weight, (0, 0, 0, more))
            self.bias = None if self.bias is None else F.pad(self.bias, (0, more))

    def with_gradients(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return d smoothed / d (hidden, weight, bias)."""
        grad_hidden = torch.empty_like(self.hidden)
        grad_weight = torch.zeros((), dtype=self.wide, device=self.hidden.device)
        grad_bias = None if self.bias is None else torch.zeros_like(self.bias, dtype=self.wide)
        for part in self.parts():
            gradient = self._rows(part, has_gradient=True)
            torch.mm(gradient, self.weight, out=grad_hidden[part])
            of_weight = wide_product(gradient.T, self.hidden[part])
            grad_weight = of_weight if part.start == 0 else grad_weight.add_(of_weight)
            if grad_bias is not None:
                grad_bias += gradient.sum(0, dtype=self.wide)
        return grad_hidden, grad_weight[: self.V], None if grad_bias is None else grad_bias[: self.V]

    def without_gradients(self) -> None:
        for part in self.parts():
            self._rows(part, has_gradient=False)

    def _rows(self, part: slice, has_gradient: bool) -> Tensor:
        """Return the gradient in the logits (n, V) of one chunk, and add its losses to the sums."""
        from regard.objectives.softmax_kernel import softmax_rows_  # the compiler takes a second to load

        logits = F.linear(self.hidden[part], self.weight, self.bias)  # (n, V)
        surprises, everything = softmax_rows_(logits, self.raw_labels[part], self.smoothing, has_gradient, self.V)
        self.plain += surprises.sum()
        self.smoothed += ((1 - self.smoothing) * surprises + self.other * (everything - surprises)).sum()
        return logits
