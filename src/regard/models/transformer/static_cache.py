"""A decoder's memory and past in places that never move, so that one recording serves every step."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.models.transformer.fused_step import can_fuse, decode_rows
from regard.models.transformer.state import TransformerMemory, TransformerState
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.blocks import BlockSettings
from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.positions import Positions


class FixedCache:
    """Keys and values (B, H, slots, K) of one attention layer; a step writes to the slots it is told to."""

    def __init__(self, keys: Tensor, values: Tensor, places: Tensor) -> None:
        self.keys, self.values, self.places = keys, values, places

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write the keys and values (B, H, hypotheses, K) of a step and return those of all slots."""
        self.keys.index_copy_(2, self.places, keys)
        self.values.index_copy_(2, self.places, values)
        return self.keys, self.values


class FixedState:
    """The past of B sentences with some hypotheses each, in so many slots; every change is made in place."""

    length = 0  # positions are counted on the device; decoding keeps within the model's bound by itself

    def __init__(self, layers: int, shape: tuple[int, int, int, int], hypotheses: int, like: Tensor) -> None:
        B, _, slots, _ = shape
        counter = lambda *size: torch.zeros(size, dtype=torch.long, device=like.device)
        self.position, self.cursor = counter(), counter()
        self.places, self.slots = counter(hypotheses), counter(slots)
        self.seen = torch.zeros(B, hypotheses, slots, dtype=torch.bool, device=like.device)
        self.offsets = torch.arange(hypotheses, device=like.device)
        # Slots nobody has written to are masked out, but even so must hold numbers.
        self.caches = [FixedCache(like.new_zeros(shape), like.new_zeros(shape), self.places) for _ in range(layers)]

    def follow(self, order: Tensor) -> None:
        """Let each of the B * hypotheses rows go on from the past of another."""
        self.seen.copy_(self.seen.flatten(0, 1).index_select(0, order).view_as(self.seen))

    def view(self, hypotheses: int, steps: int, scheme: Positions, like: Tensor) -> tuple[Tensor, View]:
        """Return the position (hypotheses,) of one further step and what it sees, and count it as decoded."""
        positions = self.position.expand(hypotheses)
        self.places.copy_(self.cursor + self.offsets)
        self.slots.index_copy_(0, self.places, positions)
        own = self.places[None, :, None].expand(self.seen.size(0), -1, 1)
        self.seen.scatter_(2, own, torch.ones_like(own, dtype=torch.bool))
        looks = as_bias(self.seen[:, None], like.dtype)  # (B, 1, hypotheses, slots)
        bias, rotation = scheme.bias(positions, self.slots), scheme.rotation(positions)
        self.cursor += hypotheses
        now = positions.clone()
        self.position += 1
        return now, View(bias=looks if bias is None else looks + bias, rotation=rotation)


class FixedTransformer:
    """The steps of a Transformer for up to `sentences` sources of up to `length` tokens."""

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        head: VocabularyHead,
        settings: BlockSettings,
        layers: int,
        sentences: int,
        length: int,
        hypotheses: int,
        steps: int,
    ) -> None:
        H, K, like = settings.heads, settings.width_of_head, head.weight.detach()
        self.encoder, self.decoder, self.head = encoder, decoder, head
        self.project: Any = decoder.project
        self.hypotheses, self.slots = hypotheses, hypotheses * steps
        self.state = FixedState(layers, (sentences, settings.groups, self.slots, K), hypotheses, like)
        room = lambda: like.new_zeros(sentences, H, length, K)
        self.bias = like.new_zeros(sentences, 1, 1, length)
        self.token_mask = torch.ones(sentences, length, dtype=torch.bool, device=like.device)
        self.memory = TransformerMemory(
            like, self.token_mask, [(room(), room()) for _ in range(layers)], View(bias=self.bias)
        )
        self.is_fused = can_fuse(settings, like, sentences * hypotheses)
        self._loaded = 0, 0  # slots and positions that were there to begin with

    @property
    def size(self) -> int:
        """Bytes held."""
        tensors = [t for pair in self.memory.projected or [] for t in pair]
        tensors += [t for cache in self.state.caches for t in (cache.keys, cache.values)]
        return sum(tensor.nbytes for tensor in tensors)

    def begin(self, source: Tensor, token_mask: Tensor) -> None:
        """Read sources (B, S) and stand before the first step, in place."""
        projected: list[tuple[Tensor, Tensor]] = self.project(self.encoder(source, token_mask))
        for ours, theirs in zip(self.memory.projected or [], projected, strict=True):
            for place, value in zip(ours, theirs, strict=True):
                place.copy_(value)
        self.bias.copy_(as_bias(padding_mask(token_mask), self.bias.dtype))
        for counter in (self.state.seen, self.state.cursor, self.state.position):
            counter.zero_()
        self._loaded = 0, 0

    def load(self, memory: TransformerMemory, state: TransformerState) -> int:
        """Take over the memory and past of some sentences, and return for how many steps there is room."""
        assert memory.projected is not None and memory.view is not None and state.slots is not None
        B, S = memory.token_mask.shape
        self.bias.fill_(-torch.inf)
        self.bias[B:, :, :, 0] = 0  # rows without a sentence see something, so that they hold numbers
        self.bias[:B, :, :, :S] = 0 if memory.view.bias is None else memory.view.bias
        for ours, theirs in zip(self.memory.projected or [], memory.projected, strict=True):
            for place, value in zip(ours, theirs, strict=True):
                place[:B, :, :S] = value
        used = state.slots.numel()
        self.state.seen.zero_()
        self.state.seen[:B, :, :used] = True if state.seen is None else state.seen
        self.state.slots[:used] = state.slots
        self.state.cursor.fill_(used)
        self.state.position.fill_(state.length)
        for fixed, cache in zip(self.state.caches, state.caches, strict=True):
            fixed.keys[:B, :, :used], fixed.values[:B, :, :used] = cache.all()
        self._loaded = used, state.length
        return (self.slots - used) // self.hypotheses

    def unload(self, sentences: Tensor, steps: int) -> tuple[TransformerMemory, TransformerState]:
        """Return the memory and past of some sentences, so many steps after they were loaded."""
        used, length = self._loaded[0] + steps * self.hypotheses, self._loaded[1] + steps
        projected = [
            (key.index_select(0, sentences), value.index_select(0, sentences))
            for key, value in self.memory.projected or []
        ]
        memory = TransformerMemory(
            self.memory.states, self.token_mask[sentences], projected, View(bias=self.bias[sentences])
        )
        caches = []
        for fixed in self.state.caches:
            caches.append(KeyValueCache())
            caches[-1].append(*(each[:, :, :used].index_select(0, sentences) for each in (fixed.keys, fixed.values)))
        seen = self.state.seen[:, :, :used].index_select(0, sentences)
        return memory, TransformerState(caches, length, self.state.slots[:used].clone(), seen)

    def step(self, tokens: Tensor, order: Tensor) -> Tensor:
        """Return the logits (B * hypotheses, V) after tokens of hypotheses that go on from others, in place."""
        self.state.follow(order)
        if self.is_fused:
            return decode_rows(self.decoder, self.head, tokens, self.memory, self.state)
        hidden = self.decoder(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        return torch.as_tensor(self.head(hidden[:, -1])).float()
