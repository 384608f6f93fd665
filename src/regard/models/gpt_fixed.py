"""What a GPT has read, in places that never move, so that one recording serves every step."""

from importlib.util import find_spec
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.models.transformer_fixed import FixedCache
from regard.models.transformer_state import TransformerState
from regard.nn import BlockSettings, EncoderBlock, View, as_bias
from regard.nn.positions import rotate


class FixedGpt:
    """The past of up to `rows` texts in `slots` places each; every change is made in place."""

    def __init__(self, model: Any, rows: int, slots: int) -> None:
        settings, like = model.settings, model.head.weight.detach()
        shape = rows, settings.groups, slots, settings.width_of_head
        counter = lambda *size: torch.zeros(size, dtype=torch.long, device=like.device)
        self.model = model
        self.rows, self.slots = rows, slots
        self.place = counter(1)  # where the next token goes, in all rows alike
        self.next = counter(rows, 1)  # the position of the next token of each row
        self.positions = counter(rows, slots)
        self.seen = torch.zeros(rows, slots, dtype=torch.bool, device=like.device)
        # Slots nobody has written to are masked out, but even so must hold numbers.
        self.caches = [FixedCache(like.new_zeros(shape), like.new_zeros(shape), self.place) for _ in model.blocks]
        self.is_fused = can_fuse(settings, like)

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for cache in self.caches for each in (cache.keys, cache.values))

    def load(self, state: TransformerState, rows: Tensor) -> int:
        """Take over what was read, row by row the past of one of its texts (R,), and return how many slots it takes.

        What was read branches only here: texts with several continuations have not been continued yet.
        """
        used, count = state.caches[0].length, len(rows)
        for fixed, cache in zip(self.caches, state.caches, strict=True):
            keys, values = cache.all()
            fixed.keys[:count, :, :used], fixed.values[:count, :, :used] = keys[rows], values[rows]
        padding = torch.zeros_like(rows) if state.padding is None else state.padding[rows]  # (R,)
        places = torch.arange(self.slots, device=rows.device)
        self.place.fill_(used)
        self.next.fill_(used)
        self.next[:count, 0] -= padding
        self.positions.copy_(places)
        self.positions[:count] -= padding[:, None]
        self.positions.clamp_min_(0)
        self.seen.copy_(places < used)
        self.seen[:count] &= places >= padding[:, None]
        return used

    def take(self, other: "FixedGpt", used: int) -> None:
        """Go on from what another one, with less room, has read."""
        for mine, theirs in zip(self.caches, other.caches, strict=True):
            mine.keys[:, :, :used], mine.values[:, :, :used] = theirs.keys[:, :, :used], theirs.values[:, :, :used]
        self.place.copy_(other.place)
        self.next.copy_(other.next)
        self.seen.zero_()
        self.seen[:, :used] = other.seen[:, :used]
        self.positions[:, :used] = other.positions[:, :used]

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V) after one more token (R,) of each row, in place."""
        scheme, like = self.model.embedding.positions, self.model.head.weight
        self.seen.index_fill_(1, self.place, True)
        self.positions.index_copy_(1, self.place, self.next)
        looks = as_bias(self.seen[:, None, None], like.dtype)  # (R, 1, 1, slots)
        bias, rotation = scheme.bias(self.next, self.positions), scheme.rotation(self.next)
        view = View(bias=looks if bias is None else looks + bias, rotation=rotation)
        x = self.model.embedding(tokens[:, None], self.next)  # (R, 1, D)
        logits = self._rows(x[:, 0].contiguous(), view) if self.is_fused else self._blocks(x, view)
        self.place += 1
        self.next += 1
        return logits

    def _blocks(self, x: Tensor, view: View) -> Tensor:
        for block, cache in zip(self.model.blocks, self.caches, strict=True):
            x = block(x, view, cache)
        return torch.as_tensor(self.model.project(self.model.finish(x)[:, 0])).float()

    def _rows(self, x: Tensor, view: View) -> Tensor:
        """Return the logits as the blocks compute them, in few kernels: each product with all around it."""
        from regard.nn.rows_kernel import rows_linear  # the compiler takes a second to load
        from regard.nn.step_attention import step_attention

        def linear(rows: Tensor, layer: nn.Linear, **around: Any) -> Tensor:
            return rows_linear(rows, layer.weight, layer.bias, **around)

        activation, used = self.model.settings.activation, self.place + 1
        assert view.bias is not None
        for module, cache in zip(self.model.blocks, self.caches, strict=True):
            block = cast(EncoderBlock, module)
            own, forward = block.attention, block.feed_forward
            packed = linear(x, own.query_key_value, norm=block.around_attention.norm)  # (R, 3 H K)
            heads = packed.view(len(x), 1, -1, own.head_width).transpose(1, 2)  # (R, 3 H, 1, K)
            query, key, value = heads.chunk(3, dim=1)
            if view.rotation is not None:
                query, key = rotate(query, view.rotation), rotate(key, view.rotation)
            seen = step_attention(query, cache.keys, cache.values, view.bias, (key, value), self.place, used)
            x = linear(seen, own.output, residual=x)
            inner = linear(x, forward.inner, norm=block.around_feed_forward.norm, activation=activation)
            x = linear(inner, forward.outer, residual=x)
        return rows_linear(x, self.model.head.weight, self.model.head.bias, norm=self.model.norm)


def can_fuse(settings: BlockSettings, weight: Tensor) -> bool:
    """Tell whether a model's steps can be made of few kernels: settings of the common kind, fp32, a CUDA device."""
    kinds = settings.norm, settings.norm_order, settings.groups
    is_common = kinds == ("layer", "pre", settings.heads) and settings.activation in ("relu", "gelu-tanh")
    return is_common and weight.is_cuda and weight.element_size() == 4 and find_spec("triton") is not None
