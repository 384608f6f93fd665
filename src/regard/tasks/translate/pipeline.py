"""The translation pipeline: text in one language in, text in another out."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, overload

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.config.resolve import Layer, resolve
from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.lines import is_text
from regard.decoding.generate import decode
from regard.decoding.scoring import next_log_probabilities
from regard.decoding.settings import MASK_PREDICT_ONLY, SAMPLING_ONLY, SEARCH_ONLY, AnyDecodeSettings, DecodeSettings
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.errors import CheckpointError, ConfigError, DataError
from regard.inspection.record import exclusive, record_translation
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.data import translation_tokenizers
from regard.tasks.translate.paragraphs import translate_paragraphs
from regard.tasks.translate.results import Alternative, PairScore, Translation, detokenized
from regard.tasks.translate.scoring import pair_log_probabilities
from regard.text.prefix import Prefix, exact_prefix, prefix_ids, prefix_of
from regard.text.tokenizer import Tokenizer

BATCH_TOKENS = {"cpu": 16384, "cuda": 32768}
"""Padded source tokens per batch, all hypotheses counted: fits a CPU's cache, fills a GPU."""


class Translator:
    """A translation model, or an ensemble of them, with tokenizers and decoding defaults."""

    paragraphs = translate_paragraphs

    def __init__(self, bundle: Bundle, others: Sequence[Bundle] = ()) -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.models: list[Any] = [bundle.model, *(other.model for other in others)]
        for model in self.models:
            drop_prepacked(model)
        self.source_tokenizer, self.target_tokenizer = translation_tokenizers(bundle.tokenizers)
        self.device = next(bundle.model.parameters()).device

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and of decoding."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def tokenizer(self) -> Tokenizer:
        """The target tokenizer, which is the source tokenizer too where they share one."""
        return self.target_tokenizer

    def decoding(self, **overrides: Any) -> AnyDecodeSettings:
        """Return the checkpoint's decoding settings with some of them changed.

        A call with another method drops the checkpoint's settings that are specific to a method.
        """
        changes = {name: value for name, value in overrides.items() if value is not None}
        if name := next((each for each in changes if each in MASK_PREDICT_ONLY), None):
            raise ConfigError(
                f"{name}: {changes[name]} is for mask-predict models, and this is an autoregressive one; leave it "
                f"out."
            )
        stored = dict(self.bundle.facts.get("decode", {}))
        if changes.get("method", stored.get("method", "beam")) != stored.get("method", "beam"):
            stored = {name: value for name, value in stored.items() if name not in (*SAMPLING_ONLY, *SEARCH_ONLY)}
        return resolve(DecodeSettings, [Layer("the checkpoint", stored), Layer("the call", changes)]).settings

    @overload
    def __call__(
        self,
        text: str,
        *,
        prefix: str | Sequence[str | None] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **decoding: Any,
    ) -> Translation: ...
    @overload
    def __call__(
        self,
        text: Sequence[str],
        *,
        prefix: str | Sequence[str | None] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **decoding: Any,
    ) -> list[Translation]: ...
    def __call__(
        self,
        text: str | Sequence[str],
        *,
        prefix: str | Sequence[str | None] | None = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **decoding: Any,
    ) -> Translation | list[Translation]:
        """Translate one text, or many in their order; decoding settings such as beam_size=5 are given by name.

        `prefix` is a forced prefix of the translations: one for all texts, or one (or None) for each. `first_row` is
        the row of the first text in its source: messages name rows, and sampling is seeded by them.
        """
        settings = self.decoding(**decoding)
        texts = [text] if isinstance(text, str) else list(text)
        prefixes = self._prefixes(prefix, len(texts), settings)
        translations = self._translate(texts, prefixes, first_row, settings, progress)
        return translations[0] if isinstance(text, str) else translations

    def _prefixes(
        self, prefix: str | Sequence[str | None] | None, count: int, settings: AnyDecodeSettings
    ) -> list[Prefix | None]:
        """Return the prefix of each text; one as long as the output may be is refused."""
        texts = [prefix] * count if prefix is None or isinstance(prefix, str) else list(prefix)
        if len(texts) != count:
            raise ConfigError(
                f"prefix: there are {len(texts)} prefixes for {count} texts; give one for each, or one."
            )
        known = {text: prefix_of(self.target_tokenizer, text) for text in set(texts) if text}
        bounds = [bound for bound in (settings.longest, self.bound) if bound is not None]
        for text, tokens in known.items():
            if bounds and len(tokens.choices) >= min(bounds):
                raise ConfigError(
                    f'prefix: "{text}" has {len(tokens.choices)} tokens, but the output may have {min(bounds)} at '
                    f"most, EOS included; shorten it."
                )
        return [known[text] if text else None for text in texts]

    @property
    def bound(self) -> int | None:
        """The maximum sequence length of the models in tokens; None: there is none."""
        return min((model.max_positions for model in self.models if model.max_positions is not None), default=None)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the models: probes record every thread that runs them."""
        with ExitStack() as locks:
            for model in sorted(set(self.models), key=id):  # always in the same order: no deadlock
                locks.enter_context(exclusive(model))
            yield

    @property
    def _batch_tokens(self) -> int:
        return BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    @property
    def _special_tokens(self) -> SpecialTokens:
        tokenizer = self.target_tokenizer
        return SpecialTokens(tokenizer.bos_id, tokenizer.eos_id, tokenizer.suppressed_ids)

    def _translate(
        self,
        texts: list[str],
        prefixes: Sequence[Prefix | None],
        first_row: int,
        settings: AnyDecodeSettings,
        progress: Progress,
    ) -> list[Translation]:
        """Translate texts in batches of similar length, in their order; a blank text has a blank translation."""
        translations = [Translation(text, "", 0.0, (), tuple) for text in texts]
        positions = np.array([position for position, text in enumerate(texts) if text.strip()], np.int64)
        if not len(positions):
            return translations
        lines = (positions + first_row).tolist()
        sequences = self._encode(self.source_tokenizer, [texts[position] for position in positions], lines, settings)
        lengths = sequences.lengths
        with progress.bar("translate", len(positions)) as bar:
            limit = max(1, self._batch_tokens // settings.hypotheses)
            for rows in micro_batches(np.arange(len(positions)), lengths, np.zeros_like(lengths), limit):
                source, token_mask = (
                    each.to(self.device) for each in sequences.padded(rows, self.source_tokenizer.pad_id)
                )
                forced = [prefixes[position] for position in positions[rows]]
                numbers = [lines[row] for row in rows]
                with self._locked():
                    hypotheses = decode(
                        self.models, source, token_mask, self._special_tokens, settings, forced, numbers
                    )
                sources = [texts[position] for position in positions[rows]]
                batch = self._translations(sources, hypotheses)
                for position, translation in zip(positions[rows], batch, strict=True):
                    translations[position] = translation
                bar.advance(len(rows))
        return translations

    def _encode(
        self, tokenizer: Tokenizer, texts: Sequence[str], lines: Sequence[int], settings: AnyDecodeSettings
    ) -> Sequences:
        """Return the token ids of texts, each with EOS; one that is too long is refused by its line."""
        for line, text in zip(lines, texts, strict=True):
            if not is_text(text):
                raise DataError(f"line {line:,} is not UTF-8 text; convert it first.")
        encoded = [[*ids, tokenizer.eos_id] for ids in tokenizer.encode_batch(texts)]
        bound, limit = self.bound, settings.max_source_length
        for line, ids in zip(lines, encoded, strict=True):
            if bound is not None and len(ids) > bound:
                raise DataError(
                    f"line {line:,} has {len(ids):,} tokens, but this model takes {bound:,} at most; "
                    f"split it into sentences."
                )
            if len(ids) > limit:
                raise DataError(
                    f"line {line:,} has {len(ids):,} tokens, more than decode.max_source_length {limit:,}; split it "
                    f"into sentences, or raise the setting if there is memory for it."
                )
        return Sequences.of(encoded)

    def _translations(self, sources: Sequence[str], hypotheses: Sequence[list[Hypothesis]]) -> Iterator[Translation]:
        if not all(hypotheses):
            raise CheckpointError("The model gives no probabilities: its weights are not numbers; use another one.")
        tokenizer = self.target_tokenizer
        texts = tokenizer.decode_batch(each[0].ids for each in hypotheses)
        for source, text, candidates in zip(sources, texts, hypotheses, strict=True):
            best = candidates[0]
            tokens = tuple(tokenizer.tokens(best.ids))
            yield Translation(source, text, best.score, tokens, partial(detokenized, tokenizer, candidates))

    def alternatives(self, source: str, prefix: str = "", count: int = 5, **decoding: Any) -> list[Alternative]:
        """Return the most probable next tokens after a prefix of the translation, each with its continuation."""
        settings = self.decoding(**decoding)
        if not source.strip():
            raise DataError("alternatives: the source is empty; give it a sentence.")
        tokenizer = self.target_tokenizer
        ids, followers = prefix_ids(tokenizer, prefix) if prefix else ([], None)
        sequence = self._encode(self.source_tokenizer, [source], [1], settings).ids
        row = torch.from_numpy(sequence.astype(np.int64)).to(self.device)
        decoded = torch.tensor([tokenizer.bos_id, *ids], device=self.device)
        allowed = followers or [token for token in range(tokenizer.size) if token not in self._special_tokens.never]
        with self._locked():
            log_p = next_log_probabilities(self.models, row, decoded)[torch.tensor(allowed, device=self.device)]
        values, order = log_p.topk(min(count, len(allowed)))
        tokens = [allowed[index] for index in order.tolist()]
        prefixes = [exact_prefix(ids if token == tokenizer.eos_id else [*ids, token]) for token in tokens]
        batch = max(1, self._batch_tokens // (settings.hypotheses * len(row)))
        hypotheses: list[list[Hypothesis]] = []
        for begin in range(0, len(tokens), batch):
            part = prefixes[begin : begin + batch]
            rows = row.expand(len(part), -1)
            token_mask = torch.ones_like(rows, dtype=torch.bool)
            with self._locked():
                hypotheses += decode(
                    self.models, rows, token_mask, self._special_tokens, settings, part, [1] * len(part)
                )
        translations = self._translations([source] * len(hypotheses), hypotheses)
        return [
            Alternative(
                tokenizer.tokens([token])[0],
                math.exp(value),
                tokenizer.decode(ids) if token == tokenizer.eos_id else each.text,
            )
            for token, value, each in zip(tokens, values.tolist(), translations, strict=True)
        ]

    def score(
        self, pairs: Sequence[tuple[str, str]], *, first_row: int = 1, progress: Progress = SILENT, **decoding: Any
    ) -> list[PairScore]:
        """Return the log probabilities of the tokens of each target, given its source."""
        settings = self.decoding(**decoding)
        if not pairs:
            return []
        lines = range(first_row, first_row + len(pairs))
        source_tokenizer, target_tokenizer = self.source_tokenizer, self.target_tokenizer
        sources = self._encode(source_tokenizer, [source for source, _ in pairs], lines, settings)
        targets = self._encode(target_tokenizer, [target for _, target in pairs], lines, settings)
        encoded = EncodedPairs(
            sources, targets, source_tokenizer.pad_id, target_tokenizer.pad_id, target_tokenizer.bos_id
        )
        with self._locked():
            values = pair_log_probabilities(self.models, encoded, self.device, self._batch_tokens, progress)
        target_tokens = [
            target_tokenizer.tokens(targets.ids[begin:end]) for begin, end in zip(targets.starts, targets.starts[1:])
        ]
        return [
            PairScore(source, target, tuple(tokens), each)
            for (source, target), tokens, each in zip(pairs, target_tokens, values, strict=True)
        ]

    def inspect(self, source: str, target: str | None = None, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Return a trace of the forward pass over `source` and `target` (default: the model's own translation)."""
        if not source.strip():
            raise DataError("inspect: the source is empty; give it a sentence.")
        source_tokenizer, target_tokenizer = self.source_tokenizer, self.target_tokenizer
        source_ids = [*source_tokenizer.encode(source).ids, source_tokenizer.eos_id]
        output = self(source).candidates[0].ids if target is None else target_tokenizer.encode(target).ids
        target_ids = [target_tokenizer.bos_id, *output]
        tokens = {
            "source": source_tokenizer.tokens(source_ids),
            "target": target_tokenizer.tokens([*output, target_tokenizer.eos_id]),
            "input": target_tokenizer.tokens(target_ids),
        }
        source_row, target_row = (torch.tensor(ids, device=self.device) for ids in (source_ids, target_ids))
        return record_translation(self.model, source_row, target_row, tokens, probes)
