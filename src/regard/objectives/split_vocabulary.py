"""Cross-entropy over a vocabulary that processes split among them: each has the logits of its own words alone."""

from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch import Tensor

from regard.nn.layers.dtensor import is_dtensor

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


class VocabularyShard:
    """The rows of a weight that this process holds, and the processes that hold the others."""

    def __init__(self, weight: "DTensor") -> None:
        self.size = weight.size(0)
        self.group = weight.device_mesh.get_group()
        rows = -(-self.size // weight.device_mesh.size())
        self.first = min(self.size, weight.device_mesh.get_local_rank() * rows)

    def sum(self, values: Tensor) -> Tensor:
        """Return values summed over the processes, in place."""
        dist.all_reduce(values, group=self.group)
        return values

    def of_labels(self, labels: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Return the columns (n, 1) of labels among the `count` own ones, and which of them are."""
        columns = labels - self.first
        is_own = (columns >= 0) & (columns < count)
        return columns.clamp(0, max(count - 1, 0)), is_own

    def log_normalizer(self, logits: Tensor) -> Tensor:
        """Return log Z (n, 1) over the logits (n, v) of all processes."""
        largest = logits.amax(1, keepdim=True) if logits.size(1) else logits.new_full((len(logits), 1), -torch.inf)
        dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=self.group)
        return largest + self.sum((logits - largest).exp().sum(1, keepdim=True)).log()

    def label_logits(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the logit (n, 1) of each label, whoever has it."""
        columns, is_own = self.of_labels(labels, logits.size(1))
        if not logits.size(1):
            return self.sum(logits.new_zeros(len(logits), 1))
        return self.sum(logits.gather(1, columns).masked_fill(~is_own, 0.0))


def split(weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None, VocabularyShard | None]:
    """Return the parts of weight and bias that this process holds, and its shard; None: it has all."""
    if not is_dtensor(weight):
        return weight, bias, None
    own = None if bias is None else bias.to_local() if is_dtensor(bias) else bias
    return weight.to_local(), own, VocabularyShard(weight)
