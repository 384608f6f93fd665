"""Text in one language in, text in another out."""

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
from regard.decoding.settings import MASKED_ONLY, SAMPLING_ONLY, SEARCH_ONLY, AnyDecodeSettings, DecodeSettings
from regard.decoding.steppers.interface import Hypothesis, SpecialTokens
from regard.errors import CheckpointError, ConfigError, DataError
from regard.inspection.record import exclusive, record_translation
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.data import translation_tokenizers
from regard.tasks.translate.results import Alternative, PairScore, Translation, in_words
from regard.tasks.translate.scoring import pair_log_probabilities
from regard.text.prefix import Prefix, exact_prefix, prefix_ids, prefix_of
from regard.text.tokenizer import Tokenizer

TOKENS_AT_ONCE = {"cpu": 16384, "cuda": 32768}
"""Padded source tokens, all hypotheses counted, that are decoded together: what a cache likes, what fills a GPU."""


class Translator:
    """A translation model, or an ensemble of them, with tokenizers and decoding defaults."""

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
        """The tokenizer of the target, which is that of the source too where they share one."""
        return self.target_tokenizer

    def decoding(self, **overrides: Any) -> AnyDecodeSettings:
        """Return the checkpoint's decoding settings with some of them changed.

        A call that asks for the other method leaves behind what the checkpoint says about its own.
        """
        changes = {name: value for name, value in overrides.items() if value is not None}
        if name := next((each for each in changes if each in MASKED_ONLY), None):
            raise ConfigError(
                f"{name}: {changes[name]} is for models that fill in masked words (mask-predict), and this one says "
                f"one word after the other; leave it out."
            )
        own = dict(self.bundle.facts.get("decode", {}))
        if changes.get("method", own.get("method", "beam")) != own.get("method", "beam"):
            own = {name: value for name, value in own.items() if name not in (*SAMPLING_ONLY, *SEARCH_ONLY)}
        return resolve(DecodeSettings, [Layer("the checkpoint", own), Layer("the call", changes)]).settings

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
        """Translate one text, or many in their order; settings such as beams=5 may be given by name.

        `prefix` is what translations begin with: one for all texts, or one (or None) for each. `first_row` is the
        number of the first text in what it was taken from: messages name it, and draws follow from it.
        """
        settings = self.decoding(**decoding)
        texts = [text] if isinstance(text, str) else list(text)
        prefixes = self._prefixes(prefix, len(texts), settings)
        answers = self._translate(texts, prefixes, first_row, settings, progress)
        return answers[0] if isinstance(text, str) else answers

    def _prefixes(
        self, prefix: str | Sequence[str | None] | None, count: int, settings: AnyDecodeSettings
    ) -> list[Prefix | None]:
        """Return the prefix of each text; one that leaves no room for more is told."""
        texts = [prefix] * count if prefix is None or isinstance(prefix, str) else list(prefix)
        if len(texts) != count:
            raise ConfigError(
                f"prefix: there are {len(texts)} prefixes for {count} texts; give one for each, or one."
            )
        known = {text: prefix_of(self.target_tokenizer, text) for text in set(texts) if text}
        bounds = [bound for bound in (settings.longest, self.bound) if bound is not None]
        for text, found in known.items():
            if bounds and len(found.choices) >= min(bounds):
                raise ConfigError(
                    f'prefix: "{text}" has {len(found.choices)} tokens, but the output may have {min(bounds)} at '
                    f"most with its end; shorten it."
                )
        return [known[text] if text else None for text in texts]

    @property
    def bound(self) -> int | None:
        """The longest sequence the model takes, None where there is no bound."""
        return min((model.max_positions for model in self.models if model.max_positions is not None), default=None)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep the models to this thread: a listener on their probes hears whoever runs them."""
        with ExitStack() as held:
            for model in sorted(set(self.models), key=id):  # always in the same order, so that nobody waits in a ring
                held.enter_context(exclusive(model))
            yield

    @property
    def _tokens_at_once(self) -> int:
        return TOKENS_AT_ONCE.get(self.device.type, TOKENS_AT_ONCE["cpu"])

    @property
    def _ends(self) -> SpecialTokens:
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
        """Translate texts in batches of like length, and put the answers back in order; blank stays blank."""
        answers = [Translation(text, "", 0.0, (), tuple) for text in texts]
        places = np.array([place for place, text in enumerate(texts) if text.strip()], np.int64)
        if not len(places):
            return answers
        lines = (places + first_row).tolist()
        sequences = self._encode(self.source_tokenizer, [texts[place] for place in places], lines, settings)
        lengths = sequences.lengths
        with progress.bar("translate", len(places)) as bar:
            limit = max(1, self._tokens_at_once // settings.hypotheses)
            for rows in micro_batches(np.arange(len(places)), lengths, np.zeros_like(lengths), limit):
                source, token_mask = (
                    each.to(self.device) for each in sequences.padded(rows, self.source_tokenizer.pad_id)
                )
                begun = [prefixes[place] for place in places[rows]]
                numbers = [lines[row] for row in rows]
                with self._alone():
                    found = decode(self.models, source, token_mask, self._ends, settings, begun, numbers)
                sources = [texts[place] for place in places[rows]]
                for place, answer in zip(places[rows], self._answers(sources, found), strict=True):
                    answers[place] = answer
                bar.advance(len(rows))
        return answers

    def _encode(
        self, tokenizer: Tokenizer, texts: Sequence[str], lines: Sequence[int], settings: AnyDecodeSettings
    ) -> Sequences:
        """Return the texts as ids with an end token each; one that is too long is named by its line."""
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

    def _answers(self, sources: Sequence[str], found: Sequence[list[Hypothesis]]) -> Iterator[Translation]:
        if not all(found):
            raise CheckpointError("The model gives no probabilities: its weights are not numbers; use another one.")
        writer = self.target_tokenizer
        said = writer.decode_batch(hypotheses[0].ids for hypotheses in found)
        for source, text, hypotheses in zip(sources, said, found, strict=True):
            best = hypotheses[0]
            pieces = tuple(writer.tokens(best.ids))
            yield Translation(source, text, best.score, pieces, partial(in_words, writer, hypotheses))

    def alternatives(self, source: str, prefix: str = "", count: int = 5, **decoding: Any) -> list[Alternative]:
        """Return the most probable tokens behind a beginning of the translation, and how each would go on."""
        settings = self.decoding(**decoding)
        if not source.strip():
            raise DataError("alternatives: the source is empty; give it a sentence.")
        writer = self.target_tokenizer
        ids, followers = prefix_ids(writer, prefix) if prefix else ([], None)
        sequence = self._encode(self.source_tokenizer, [source], [1], settings).ids
        row = torch.from_numpy(sequence.astype(np.int64)).to(self.device)
        said = torch.tensor([writer.bos_id, *ids], device=self.device)
        allowed = followers or [token for token in range(writer.size) if token not in self._ends.never]
        with self._alone():
            log_p = next_log_probabilities(self.models, row, said)[torch.tensor(allowed, device=self.device)]
        values, order = log_p.topk(min(count, len(allowed)))
        tokens = [allowed[place] for place in order.tolist()]
        begun = [exact_prefix(ids if token == writer.eos_id else [*ids, token]) for token in tokens]
        at_once = max(1, self._tokens_at_once // (settings.hypotheses * len(row)))
        found: list[list[Hypothesis]] = []
        for begin in range(0, len(tokens), at_once):
            part = begun[begin : begin + at_once]
            rows = row.expand(len(part), -1)
            token_mask = torch.ones_like(rows, dtype=torch.bool)
            with self._alone():
                found += decode(self.models, rows, token_mask, self._ends, settings, part, [1] * len(part))
        answers = self._answers([source] * len(found), found)
        return [
            Alternative(
                writer.tokens([token])[0],
                math.exp(value),
                writer.decode(ids) if token == writer.eos_id else answer.text,
            )
            for token, value, answer in zip(tokens, values.tolist(), answers, strict=True)
        ]

    def score(
        self, pairs: Sequence[tuple[str, str]], *, first_row: int = 1, progress: Progress = SILENT, **decoding: Any
    ) -> list[PairScore]:
        """Return how probable each target is, given its source, token by token."""
        settings = self.decoding(**decoding)
        if not pairs:
            return []
        lines = range(first_row, first_row + len(pairs))
        reader, writer = self.source_tokenizer, self.target_tokenizer
        sources = self._encode(reader, [source for source, _ in pairs], lines, settings)
        targets = self._encode(writer, [target for _, target in pairs], lines, settings)
        encoded = EncodedPairs(sources, targets, reader.pad_id, writer.pad_id, writer.bos_id)
        with self._alone():
            values = pair_log_probabilities(self.models, encoded, self.device, self._tokens_at_once, progress)
        pieces = [writer.tokens(targets.ids[begin:end]) for begin, end in zip(targets.starts, targets.starts[1:])]
        return [
            PairScore(source, target, tuple(tokens), each)
            for (source, target), tokens, each in zip(pairs, pieces, values, strict=True)
        ]

    def inspect(self, source: str, target: str | None = None, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Record what the model does while it turns `source` into `target` (unset: into its own translation)."""
        if not source.strip():
            raise DataError("inspect: the source is empty; give it a sentence.")
        reader, writer = self.source_tokenizer, self.target_tokenizer
        source_ids = [*reader.encode(source).ids, reader.eos_id]
        said = self(source).candidates[0].ids if target is None else writer.encode(target).ids
        target_ids = [writer.bos_id, *said]
        tokens = {"source": reader.tokens(source_ids), "target": writer.tokens(target_ids)}
        source_row, target_row = (torch.tensor(ids, device=self.device) for ids in (source_ids, target_ids))
        return record_translation(self.model, source_row, target_row, tokens, probes)
