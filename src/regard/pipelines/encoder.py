"""Text encoder pipeline: embeddings of texts and tokens, and their similarities."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, get_args, overload

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.lines import is_text
from regard.errors import ConfigError, DataError
from regard.inspection.hidden_states import read_layers
from regard.inspection.logit_lens import record_lens
from regard.inspection.record import WEIGHTS, record_text
from regard.models.heads import ModelWithHead
from regard.nn.inference.memory import retry_smaller
from regard.nn.inference.prepacked import packed
from regard.nn.probes.trace import Trace
from regard.pipelines.base import Pipeline
from regard.pipelines.embedding import Embedding, EmbedOptions
from regard.pipelines.encoder_results import TokenVectors, Vectors, WordSimilarity
from regard.pipelines.inputs import SingleText, TextRow, as_row, check_text, split_rows
from regard.pipelines.mask_filling import MaskFiller, check_fills
from regard.pipelines.pooling import Pooling, cosine, pooled, word_positions
from regard.progress import SILENT, Progress
from regard.text.mask_tokens import encode_masked
from regard.text.tokenizer import MASK, Tokenizer

TOKENS_AT_ONCE = {"cpu": 1024, "cuda": 65536}
"""Padded tokens of a batch: on a CPU few enough for its caches, which halves the time."""

Make = Callable[[Tensor, Tensor, Tensor], Sequence[Any]]
"""Function of hidden states (B, T, D), tokens (B, T) and token mask (B, T) that returns a result per row."""


class Encoder(Pipeline[SingleText, EmbedOptions, Embedding]):
    """A bidirectional encoder with its tokenizer; a task head is ignored."""

    row = SingleText
    inputs = ("text",)
    options_class = EmbedOptions

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle)
        self.model = bundle.model.body if isinstance(bundle.model, ModelWithHead) else bundle.model
        self.tokenizer: Tokenizer = bundle.tokenizers["tokenizer"]

    def check(self, row: SingleText, options: EmbedOptions, where: str) -> None:
        """Refuse what is not text."""
        check_text(row.text, where)

    def predict(
        self, rows: Sequence[SingleText], options: EmbedOptions, progress: Progress = SILENT
    ) -> list[Embedding]:
        """Return the vector of each text, or with the option tokens those of its tokens (`TokenVectors`)."""
        if options.tokens:
            results: list[Any] = self.tokens([row.text for row in rows], options.layer, progress=progress)
            return results
        chosen = (options.pooling, options.layer, options.normalize)
        return list(map(Embedding, rows, self.embed([row.text for row in rows], *chosen, progress=progress)))

    @property
    def max_length(self) -> int:
        """Maximum tokens of a text, special tokens included: as in training."""
        facts = self.bundle.facts
        return min(int(self.model.max_positions), int(facts.get("length", facts.get("max_length", 2**31))))

    @property
    def fill(self) -> MaskFiller:
        """The pipeline that predicts the tokens of every [MASK]: `encoder.fill("A [MASK].", top=3).filled`."""
        return MaskFiller(self)

    def with_specials(self, ids: Sequence[int]) -> list[int]:
        """Return ids between [CLS] and [SEP]."""
        return [self.tokenizer.bos_id, *ids, self.tokenizer.eos_id]

    def embed(
        self,
        text: str | Sequence[str],
        pooling: str | None = None,
        layer: int = -1,
        is_normalized: bool | None = None,
        *,
        progress: Progress = SILENT,
    ) -> Vectors:
        """Return the embedding of one text (D,), or of many (N, D) in their order (see `EmbedOptions`).

        A text that is too long is truncated, with a warning.
        """
        defaults = self.bundle.facts.get("embed", {})
        pooling = pooling or defaults.get("pooling", "mean")
        if pooling not in get_args(Pooling):
            raise ConfigError(f'pooling: "{pooling}" is not one of {", ".join(get_args(Pooling))}; choose one.')
        is_normalized = defaults.get("is_normalized", False) if is_normalized is None else is_normalized
        texts = [text] if isinstance(text, str) else list(text)
        encoded = self._encode(texts, min(self.max_length, int(defaults.get("max_length", 2**31))), progress)

        def make(hidden: Tensor, tokens: Tensor, token_mask: Tensor) -> Sequence[Any]:
            vectors = pooled(hidden.float(), self._counted(tokens, token_mask), pooling)
            return list((F.normalize(vectors, dim=1) if is_normalized else vectors).cpu().numpy())

        rows = self.each(encoded, layer, make, progress)
        vectors = np.stack(rows) if rows else np.zeros((0, self.bundle.settings.width), np.float32)
        return vectors[0] if isinstance(text, str) else vectors

    def _encode(self, texts: Sequence[str], limit: int, progress: Progress = SILENT) -> list[list[int]]:
        """Return the ids of texts with [CLS] and [SEP], truncated to `limit` tokens."""
        for line, text in enumerate(texts, start=1):
            if not is_text(text):
                raise DataError(f"line {line:,} is not UTF-8 text; convert it first.")
        encoded = self.tokenizer.encode_batch(texts)
        truncated = sum(len(ids) + 2 > limit for ids in encoded)
        if truncated:
            progress.warn(
                f"{truncated:,} of {len(texts):,} texts have more than {limit:,} tokens, and were truncated."
            )
        return [self.with_specials(ids[: limit - 2]) for ids in encoded]

    def each(self, encoded: Sequence[list[int]], layer: int, make: Make, progress: Progress) -> list[Any]:
        """Return a result per sequence, computed in batches of similar length, smaller ones when out of memory."""
        sequences = Sequences.of(encoded)
        limit = TOKENS_AT_ONCE.get(self.device.type, TOKENS_AT_ONCE["cpu"])
        longest = int(sequences.lengths.max(initial=1))
        attempt = lambda limit: self._read(sequences, layer, make, limit, progress)
        return retry_smaller(attempt, max(limit, longest), longest, self.device)

    @torch.inference_mode()
    def _read(self, sequences: Sequences, layer: int, make: Make, limit: int, progress: Progress) -> list[Any]:
        results: list[Any] = [None] * len(sequences)
        if not results:
            return results
        lengths = sequences.lengths
        batches = micro_batches(np.arange(len(results)), lengths, np.zeros_like(lengths), limit)
        # Prepacked weights compute faster, but take time to make.
        layout = packed(self.model) if len(batches) > 1 else nullcontext()
        with progress.bar("read", len(results)) as bar, layout:
            for rows in batches:
                tokens, token_mask = (each.to(self.device) for each in sequences.padded(rows, self.tokenizer.pad_id))
                has_padding = lengths[rows].min() < tokens.size(1)
                (hidden,) = read_layers(self.model, [layer], tokens, None, token_mask if has_padding else None)
                for row, result in zip(rows, make(hidden, tokens, token_mask), strict=True):
                    results[row] = result
                bar.advance(len(rows))
        return results

    @overload
    def tokens(self, text: str, layer: int = -1, *, progress: Progress = SILENT) -> TokenVectors: ...
    @overload
    def tokens(self, text: list[str], layer: int = -1, *, progress: Progress = SILENT) -> list[TokenVectors]: ...
    def tokens(
        self, text: str | list[str], layer: int = -1, *, progress: Progress = SILENT
    ) -> TokenVectors | list[TokenVectors]:
        """Return the vectors of all tokens of one text, or of many in their order; layer 0 is the embeddings."""
        texts = [text] if isinstance(text, str) else list(text)
        encoded = self._encode(texts, self.max_length)  # each result tells whether its text was truncated

        def make(hidden: Tensor, tokens: Tensor, token_mask: Tensor) -> Sequence[Any]:
            masks = self._counted(tokens, token_mask)
            return [row[mask].float().cpu().numpy() for row, mask in zip(hidden, masks, strict=True)]

        vectors = self.each(encoded, layer, make, progress)
        results = [self._with_tokens(*each) for each in zip(texts, encoded, vectors, strict=True)]
        return results[0] if isinstance(text, str) else results

    def _counted(self, tokens: Tensor, token_mask: Tensor) -> Tensor:
        """Return the mask (B, T) of the tokens that are pooled and returned."""
        return token_mask

    def _with_tokens(self, text: str, ids: Sequence[int], vectors: Vectors) -> TokenVectors:
        offsets = self.tokenizer.encode(text).offsets
        kept, tokens = offsets[: len(ids) - 2], tuple(self.tokenizer.tokens(ids))
        return TokenVectors(text, tokens, ((0, 0), *kept, (0, 0)), vectors, len(kept) < len(offsets))

    @overload
    def similar(self, one: str, other: str, **overrides: Any) -> float: ...
    @overload
    def similar(self, one: Sequence[str], other: Sequence[str], **overrides: Any) -> Vectors: ...
    def similar(self, one: str | Sequence[str], other: str | Sequence[str], **overrides: Any) -> float | Vectors:
        """Return the cosine similarity of two texts, or of all pairs of two lists (N, M)."""
        both = [[each] if isinstance(each, str) else list(each) for each in (one, other)]
        vectors = self.embed([*both[0], *both[1]], **(overrides | {"is_normalized": True}))
        cosines = np.clip(vectors[: len(both[0])] @ vectors[len(both[0]) :].T, -1, 1)
        return float(cosines[0, 0]) if isinstance(one, str) and isinstance(other, str) else cosines

    def similar_words(self, one: tuple[str, str], other: tuple[str, str], layer: int = -1) -> WordSimilarity:
        """Return the similarity of two words in context, each given as (text, word)."""
        texts = [text for text, _ in (one, other)]
        encoded = self.tokens(texts, layer)
        positions = [word_positions(each, word) for each, (_, word) in zip(encoded, (one, other), strict=True)]
        in_context = [each.vectors[own].mean(0) for each, own in zip(encoded, positions, strict=True)]
        without = [each[own].mean(0) for each, own in zip(self._alone(texts), positions, strict=True)]
        return WordSimilarity(cosine(*in_context), cosine(*without))

    def _alone(self, texts: list[str]) -> list[Vectors]:
        """Return the rows of the embedding matrix for all tokens of texts."""
        table = self.model.embedding.table.weight.detach().float().cpu().numpy()
        return [table[self.with_specials(ids)] for ids in self.tokenizer.encode_batch(texts)]

    def inspect(self, *inputs: object, probes: Sequence[str] = WEIGHTS) -> Trace:
        """Return a trace of the model's forward pass over a text or a pair of texts; [MASK] in them is a mask."""
        given = as_row(TextRow, ("text", "second"), split_rows(inputs)[0][0], "inspect")
        ids, segments, tokens = self._row("inspect", given.text, given.second)
        return record_text(self.model, ids, tokens, probes, segments)

    def logit_lens(self, text: str, second: str | None = None, count: int = 5) -> Trace:
        """Return each block's prediction at every position (logit lens, `record_lens`)."""
        check_fills(self)
        if count < 1:
            raise ConfigError(f"count: {count} is less than 1; ask for 1 or more tokens.")
        row, segments, tokens = self._row("logit_lens", text, second)
        return record_lens(self.model, row, tokens, self.tokenizer.tokens, count, segments)

    def _row(self, name: str, text: str, second: str | None) -> tuple[Tensor, Tensor, dict[str, list[str]]]:
        """Return the ids (T,), segments (T,) and tokens of [CLS] text [SEP] second [SEP]."""
        first = self.with_specials(self._ids(text, name))
        after = [] if second is None else [*self._ids(second, name), self.tokenizer.eos_id]
        ids = [*first, *after]
        if self.model.max_positions is not None and len(ids) > self.model.max_positions:
            raise DataError(
                f"{name}: the text has {len(ids):,} tokens with special tokens, but this model takes "
                f"{self.model.max_positions:,} at most; shorten it."
            )
        segments = torch.tensor([0] * len(first) + [1] * len(after), device=self.device)
        return torch.tensor(ids, device=self.device), segments, {"text": self.tokenizer.tokens(ids)}

    def _ids(self, text: str, name: str) -> list[int]:
        if not is_text(text):
            raise DataError(f"{name}: the text is not UTF-8; convert it first.")
        return encode_masked(self.tokenizer, text) if MASK in text else self.tokenizer.encode(text).ids
