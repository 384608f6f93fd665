"""Static memory and key-value cache of a decoder: fixed addresses, so that one CUDA graph serves every step."""

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


class StaticKeyValueCache:
    """Keys and values (B, H, slots, K) of one attention layer; a step writes to `write_slots`."""

    def __init__(self, keys: Tensor, values: Tensor, write_slots: Tensor) -> None:
        self.keys, self.values, self.write_slots = keys, values, write_slots

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write the keys and values (B, H, hypotheses, K) of a step and return those of all slots."""
        self.keys.index_copy_(2, self.write_slots, keys)
        self.values.index_copy_(2, self.write_slots, values)
        return self.keys, self.values


class StaticDecoderState:
    """The cached keys and values of B sentences with some hypotheses each; all updates are in place."""

    def __init__(self, layers: int, shape: tuple[int, int, int, int], hypotheses: int, like: Tensor) -> None:
        B, _, slots, _ = shape
        counter = lambda *size: torch.zeros(size, dtype=torch.long, device=like.device)
        self.position, self.cursor = counter(), counter()
        self.write_slots, self.slots = counter(hypotheses), counter(slots)
        self.seen = torch.zeros(B, hypotheses, slots, dtype=torch.bool, device=like.device)
        self.offsets = torch.arange(hypotheses, device=like.device)
        # Unused slots are masked, but must not hold NaN.
        self.caches = [
            StaticKeyValueCache(like.new_zeros(shape), like.new_zeros(shape), self.write_slots) for _ in range(layers)
        ]

    def check(self, scheme: Positions, steps: int) -> None:
        """Refuse nothing: positions are counted on the device, and decoding limits lengths itself."""

    def follow(self, order: Tensor) -> None:
        """Make each of the B * hypotheses rows extend the hypothesis `order` of its sentence."""
        self.seen.copy_(self.seen.flatten(0, 1).index_select(0, order).view_as(self.seen))

    def view(self, hypotheses: int, steps: int, scheme: Positions, like: Tensor) -> tuple[Tensor, View]:
        """Return the position (hypotheses,) and the attention view of one further step, and count it as decoded."""
        positions = self.position.expand(hypotheses)
        self.write_slots.copy_(self.cursor + self.offsets)
        self.slots.index_copy_(0, self.write_slots, positions)
        own = self.write_slots[None, :, None].expand(self.seen.size(0), -1, 1)
        self.seen.scatter_(2, own, torch.ones_like(own, dtype=torch.bool))
        mask_bias = as_bias(self.seen[:, None], like.dtype)  # (B, 1, hypotheses, slots)
        bias, rotation = scheme.bias(positions, self.slots), scheme.rotation(positions)
        self.cursor += hypotheses
        current = positions.clone()
        self.position += 1
        return current, View(bias=mask_bias if bias is None else mask_bias + bias, rotation=rotation)


class StaticTransformerState:
    """Static memory and state of a Transformer for up to `sentences` sources of up to `length` tokens."""

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
        self.state = StaticDecoderState(layers, (sentences, settings.groups, self.slots, K), hypotheses, like)
        empty = lambda: like.new_zeros(sentences, H, length, K)
        self.bias = like.new_zeros(sentences, 1, 1, length)
        self.token_mask = torch.ones(sentences, length, dtype=torch.bool, device=like.device)
        self.memory = TransformerMemory(
            like, self.token_mask, [(empty(), empty()) for _ in range(layers)], View(bias=self.bias)
        )
        self.is_fused = can_fuse(settings, like, sentences * hypotheses)
        self._loaded = 0, 0  # slots and positions at the time of loading

    @property
    def size(self) -> int:
        """Bytes held by keys and values."""
        tensors = [t for pair in self.memory.projected or [] for t in pair]
        tensors += [t for cache in self.state.caches for t in (cache.keys, cache.values)]
        return sum(tensor.nbytes for tensor in tensors)

    def begin(self, source: Tensor, token_mask: Tensor) -> None:
        """Encode sources (B, S) and reset the state, in place."""
        projected: list[tuple[Tensor, Tensor]] = self.project(self.encoder(source, token_mask))
        for buffers, values in zip(self.memory.projected or [], projected, strict=True):
            for buffer, value in zip(buffers, values, strict=True):
                buffer.copy_(value)
        self.bias.copy_(as_bias(padding_mask(token_mask), self.bias.dtype))
        for counter in (self.state.seen, self.state.cursor, self.state.position):
            counter.zero_()
        self._loaded = 0, 0

    def load(self, memory: TransformerMemory, state: TransformerState) -> int:
        """Copy in the memory and state of some sentences; return the number of steps that fit."""
        assert memory.projected is not None and memory.view is not None and state.slots is not None
        B, S = memory.token_mask.shape
        self.bias.fill_(-torch.inf)
        self.bias[B:, :, :, 0] = 0  # unused rows attend to one position, so that no NaN arises
        self.bias[:B, :, :, :S] = 0 if memory.view.bias is None else memory.view.bias
        for buffers, values in zip(self.memory.projected or [], memory.projected, strict=True):
            for buffer, value in zip(buffers, values, strict=True):
                buffer[:B, :, :S] = value
        used = state.slots.numel()
        self.state.seen.zero_()
        self.state.seen[:B, :, :used] = True if state.seen is None else state.seen
        self.state.slots[:used] = state.slots
        self.state.cursor.fill_(used)
        self.state.position.fill_(state.length)
        for static, cache in zip(self.state.caches, state.caches, strict=True):
            static.keys[:B, :, :used], static.values[:B, :, :used] = cache.all()
        self._loaded = used, state.length
        return (self.slots - used) // self.hypotheses

    def unload(self, sentences: Tensor, steps: int) -> tuple[TransformerMemory, TransformerState]:
        """Return the memory and state of some sentences, `steps` steps after they were loaded."""
        used, length = self._loaded[0] + steps * self.hypotheses, self._loaded[1] + steps
        projected = [
            (key.index_select(0, sentences), value.index_select(0, sentences))
            for key, value in self.memory.projected or []
        ]
        memory = TransformerMemory(
            self.memory.states, self.token_mask[sentences], projected, View(bias=self.bias[sentences])
        )
        caches = []
        for static in self.state.caches:
            caches.append(KeyValueCache())
            caches[-1].append(
                *(each[:, :, :used].index_select(0, sentences) for each in (static.keys, static.values))
            )
        seen = self.state.seen[:, :, :used].index_select(0, sentences)
        return memory, TransformerState(caches, length, self.state.slots[:used].clone(), seen)

    def step(self, tokens: Tensor, order: Tensor) -> Tensor:
        """Return the logits (B * hypotheses, V) after tokens that extend the hypotheses `order`; updates in place."""
        self.state.follow(order)
        if self.is_fused:
            return decode_rows(self.decoder, self.head, tokens, self.memory, self.state)
        hidden = self.decoder(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        return torch.as_tensor(self.head(hidden[:, -1])).float()
