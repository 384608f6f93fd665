"""Chunked, label-smoothed cross-entropy from hidden states: logits exist one chunk at a time, and only once."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.nn.kernels.availability import has_triton
from regard.nn.layers.linear import as_product
from regard.objectives.split_vocabulary import VocabularyShard, split

CHUNK_ELEMENTS = {"cpu": 2**22}
"""Logits of a chunk by device type: as many as fit a CPU's cache; on a GPU a fraction of its memory."""
MEMORY_FRACTION = 1 / 32
"""Fraction of a GPU's memory for logits of two bytes: fewer chunks need fewer additions of gradients."""
GOOD_SIZE = 64
"""Multiple to which a GPU pads the vocabulary: products with 50,257 columns are several times slower than 50,304."""


def chunk_rows(hidden: Tensor, V: int) -> Iterator[slice]:
    """Yield slices of the rows (N, D) whose logits (n, V) form one chunk."""
    rows = max(1, _chunk_elements(hidden.device) // V)
    for start in range(0, hidden.size(0), rows):
        yield slice(start, start + rows)


def _chunk_elements(device: torch.device) -> int:
    if device.type == "cuda" and device.type not in CHUNK_ELEMENTS:
        return int(torch.cuda.get_device_properties(device).total_memory * MEMORY_FRACTION / 2)
    return CHUNK_ELEMENTS.get(device.type, 2**24)


class CrossEntropy(NamedTuple):
    """Sums over all labels: the smoothed loss, and the plain negative log-likelihood to report."""

    smoothed: Tensor
    plain: Tensor


def cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float = 0.0
) -> CrossEntropy:
    """Return the cross-entropy of labels (N,) under softmax(hidden (N, D) · weightᵀ (D, V) + bias).

    Rows with a negative label are ignored. Processes may split the weight by its rows: each gets the same sums, and
    the gradients of its own rows.

    The target puts 1 - smoothing on the label and spreads the rest evenly over the *other* V - 1 words.
    """
    # The last norm may return fp32, and this is the largest product of all.
    own_weight, own_bias, share = split(weight, bias)
    return CrossEntropy(
        *_ChunkedCrossEntropy.apply(as_product(hidden), own_weight, own_bias, labels, smoothing, share)
    )


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Computes the gradients along with the logits of each chunk, instead of storing or recomputing them."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        smoothing: float,
        share: VocabularyShard | None,
    ) -> tuple[Tensor, Tensor]:
        with torch.autocast(hidden.device.type, enabled=False):
            arguments = hidden.detach(), weight.detach(), bias, labels, smoothing
            if share is not None:
                chunks: _Chunks = _SplitChunks(*arguments, share)
            else:
                chunks = (_FusedChunks if can_fuse(hidden) else _Chunks)(*arguments)
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
        return *gradients, None, None, None


def can_fuse(hidden: Tensor) -> bool:
    """Return True if the fused kernel applies: on a CUDA device with Triton."""
    return hidden.is_cuda and hidden.dtype != torch.float64 and has_triton()


class _Chunks:
    """The rows of one call, chunk by chunk; sums in fp32 or better for all types of rows."""

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
        nll = -log_p.gather(1, y).squeeze(1)  # (n,)
        # -Σ_v log p_v = V · log Z - Σ_v logit_v, and both terms are cheaper than another pass over (n, V).
        log_z = logits.gather(1, y).squeeze(1) + nll
        everything = self.V * log_z - (x.to(self.wide) @ self.weight_sum + self.bias_sum)
        token_mask = self.token_mask[part].squeeze(1)
        self.plain += (token_mask * nll).sum()
        self.smoothed += (token_mask * ((1 - self.smoothing) * nll + self.other * (everything - nll))).sum()
        return log_p

    def add_to_labels(self, p: Tensor, y: Tensor, value: float) -> None:
        """Add a value to the column of each row's label (n, 1)."""
        p.scatter_add_(1, y, p.new_full(y.shape, value))

    def summed(self, grad_hidden: Tensor) -> Tensor:
        """Return gradients summed over the processes that split the vocabulary."""
        return grad_hidden

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
            # d / d logit = p - other, but p - (1 - smoothing) at the label; `other` is subtracted at the end.
            p = self.log_probabilities(part).exp_()
            self.add_to_labels(p, y, self.smoothing + self.other - 1)
            if grad_bias is not None:
                grad_bias += self.token_mask[part].squeeze(1).to(p.dtype) @ p
            p = p.to(self.hidden.dtype)
            torch.mm(p, self.weight, out=grad_hidden[part])
            if p.dtype == self.wide:
                grad_weight.addmm_(p.T, x)
            else:
                grad_weight += p.T @ x
        grad_hidden = self.summed(grad_hidden)
        grad_hidden -= (self.other * self.weight_sum).to(grad_hidden.dtype)
        grad_hidden *= self.token_mask
        grad_weight -= self.other * (self.hidden * self.token_mask).sum(0, dtype=self.wide)
        if grad_bias is not None:
            grad_bias -= self.other * self.token_mask.sum()
        return grad_hidden, grad_weight, grad_bias


class _SplitChunks(_Chunks):
    """The same for a vocabulary of which this process has a part; gradients of weight and bias are of its rows."""

    def __init__(
        self,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        smoothing: float,
        share: VocabularyShard,
    ) -> None:
        super().__init__(hidden, weight, bias, labels, smoothing)
        self.share, self.V = share, share.size
        self.other = smoothing / (self.V - 1)
        self.weight_sum = share.sum(self.weight_sum)
        self.bias_sum = self.bias_sum if isinstance(self.bias_sum, float) else share.sum(self.bias_sum)

    def log_probabilities(self, part: slice) -> Tensor:
        """Return log p (n, v) of the own words of one chunk, and add its losses to the sums."""
        x, y = self.hidden[part], self.labels[part]
        logits = F.linear(x, self.weight, self.bias).to(self.wide)  # (n, v)
        log_z = self.share.log_normalizer(logits)  # (n, 1)
        nll = (log_z - self.share.label_logits(logits, y)).squeeze(1)  # (n,)
        everything = self.V * log_z.squeeze(1) - (x.to(self.wide) @ self.weight_sum + self.bias_sum)
        token_mask = self.token_mask[part].squeeze(1)
        self.plain += (token_mask * nll).sum()
        self.smoothed += (token_mask * ((1 - self.smoothing) * nll + self.other * (everything - nll))).sum()
        return logits - log_z

    def add_to_labels(self, p: Tensor, y: Tensor, value: float) -> None:
        """Add a value to the column of each row's label, where it is among the own ones."""
        columns, is_own = self.share.of_labels(y, p.size(1))
        if p.size(1):
            p.scatter_add_(1, columns, value * is_own.to(p.dtype))

    def summed(self, grad_hidden: Tensor) -> Tensor:
        """Return gradients summed over the processes that split the vocabulary."""
        return self.share.sum(grad_hidden)


def wide_product(first: Tensor, second: Tensor) -> Tensor:
    """Return first · second in fp32 or better; on a GPU without rounding to the type of the factors."""
    wide = torch.promote_types(first.dtype, torch.float32)
    if first.is_cuda and first.dtype != wide:
        return torch.mm(first, second, out_dtype=wide)
    return (first @ second).to(wide)


class _FusedChunks(_Chunks):
    """The same, with all operations between the products in one kernel; the vocabulary is padded to a good size."""

    def __init__(self, hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float) -> None:
        super().__init__(hidden, weight, bias, labels, smoothing)
        padding = -self.V % GOOD_SIZE
        if padding:
            self.weight = F.pad(self.weight, (0, 0, 0, padding))
            self.bias = None if self.bias is None else F.pad(self.bias, (0, padding))

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
        """Return the gradient of the logits (n, V) of one chunk, and add its losses to the sums."""
        from regard.objectives.softmax_kernel import softmax_rows_  # Triton takes a second to load

        logits = F.linear(self.hidden[part], self.weight, self.bias)  # (n, V)
        nll, everything = softmax_rows_(logits, self.raw_labels[part], self.smoothing, has_gradient, self.V)
        self.plain += nll.sum()
        self.smoothed += ((1 - self.smoothing) * nll + self.other * (everything - nll)).sum()
        return logits
