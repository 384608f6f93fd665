"""The translation pipeline: text in one language in, text in another out."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, overload

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.lines import is_text
from regard.decoding.generate import generate, stream
from regard.decoding.scoring import next_log_probabilities
from regard.decoding.session import GenerationJob
from regard.decoding.settings import (
    MASK_PREDICT_ONLY,
    AnyTranslationDecoding,
    MaskPredictDecoding,
    TranslationDecoding,
    with_overrides,
)
from regard.decoding.steppers.interface import Hypothesis, Request, SpecialTokens
from regard.errors import ConfigError, DataError
from regard.inspection.record import exclusive, record_translation
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.data import translation_tokenizers
from regard.tasks.translate.paragraphs import translate_paragraphs
from regard.tasks.translate.results import Alternative, PairScore, Translation, detokenized
from regard.tasks.translate.scoring import pair_log_probabilities
from regard.text.detokenizer import first_stop
from regard.text.prefix import Forced, Prefix, exact_prefix, forced_prefixes, prefix_ids
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
        self._batch_tokens = BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model and of decoding."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    @property
    def tokenizer(self) -> Tokenizer:
        """The target tokenizer, which is the source tokenizer too where they share one."""
        return self.target_tokenizer

    def decoding(self, **overrides: Any) -> AnyTranslationDecoding:
        """Return the checkpoint's decoding settings with overrides (see `with_overrides`)."""
        if name := next((each for each in MASK_PREDICT_ONLY if overrides.get(each) is not None), None):
            is_for = "is for mask-predict models, and this is an autoregressive one"
            raise ConfigError(f"{name}: {overrides[name]} {is_for}; leave it out.")
        return with_overrides(TranslationDecoding, self.bundle.facts.get("decode", {}), overrides)

    @overload
    def __call__(
        self, text: str, *, prefix: Forced = None, first_row: int = 1, progress: Progress = SILENT, **decoding: Any
    ) -> Translation: ...
    @overload
    def __call__(
        self,
        text: Sequence[str],
        *,
        prefix: Forced = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **decoding: Any,
    ) -> list[Translation]: ...
    def __call__(
        self,
        text: str | Sequence[str],
        *,
        prefix: Forced = None,
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
        forced = self._prefixes(prefix, len(texts), settings)
        translations = self._translate(texts, forced, first_row, settings, progress)
        return translations[0] if isinstance(text, str) else translations

    def stream(self, text: str, *, prefix: str | None = None, first_row: int = 1, **decoding: Any) -> Iterator[str]:
        """Yield the translation of a text in chunks as it is generated; joined, they are the text of a call.

        No character is split; a possible stop string, and text that a beam search may still change, are withheld.
        """
        settings = self.decoding(**decoding)
        forced = self._prefixes(prefix, 1, settings)
        if not text.strip():
            return iter(())
        ids = self._encode(self.source_tokenizer, [text], [first_row], settings).ids.tolist()
        (request,) = self._requests([ids], forced, [first_row], settings)
        return stream(self._job(settings), request, self._locked)

    def _job(self, settings: AnyTranslationDecoding) -> GenerationJob:
        assert isinstance(settings, TranslationDecoding | MaskPredictDecoding), "there are no others"
        return GenerationJob(self.models, self._special_tokens, settings, tokenizer=self.target_tokenizer)

    def _requests(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Prefix | None],
        lines: Sequence[int],
        settings: AnyTranslationDecoding,
    ) -> list[Request]:
        """Return the requests of sources as ids, with EOS."""
        limits = [0] * len(sources)  # mask-predict predicts its lengths
        if isinstance(settings, TranslationDecoding):
            known = [len(each.choices) if each else 0 for each in prefixes]
            limits = [settings.limit(len(ids), self.bound, each) for ids, each in zip(sources, known, strict=True)]
        return list(map(Request, sources, limits, lines, prefixes))

    def _prefixes(self, prefix: Forced, count: int, settings: AnyTranslationDecoding) -> list[Prefix | None]:
        """Return the prefix of each text; one as long as the output may be is refused."""
        bounds = [bound for bound in (settings.longest, self.bound) if bound is not None]
        return forced_prefixes(self.target_tokenizer, prefix, count, min(bounds, default=None))

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
    def _special_tokens(self) -> SpecialTokens:
        own = self.target_tokenizer
        return SpecialTokens(own.bos_id, own.eos_id, own.suppressed_ids)

    def _translate(
        self,
        texts: list[str],
        prefixes: Sequence[Prefix | None],
        first_row: int,
        settings: AnyTranslationDecoding,
        progress: Progress,
    ) -> list[Translation]:
        """Translate texts in batches of similar length, in their order; a blank text has a blank translation."""
        translations = [Translation(text, "", 0.0, (), tuple) for text in texts]
        positions = np.array([position for position, text in enumerate(texts) if text.strip()], np.int64)
        if not len(positions):
            return translations
        lines = (positions + first_row).tolist()
        sequences = self._encode(self.source_tokenizer, [texts[position] for position in positions], lines, settings)
        lengths, job = sequences.lengths, self._job(settings)
        ids = [sequences[row].tolist() for row in range(len(lines))]
        requests = self._requests(ids, [prefixes[position] for position in positions], lines, settings)
        with progress.bar("translate", len(positions)) as bar:
            limit = max(1, self._batch_tokens // settings.hypotheses)
            for rows in micro_batches(np.arange(len(positions)), lengths, np.zeros_like(lengths), limit):
                with self._locked():
                    hypotheses = generate(job, [requests[row] for row in rows])
                batch = self._translations([texts[position] for position in positions[rows]], hypotheses, settings)
                for position, translation in zip(positions[rows], batch, strict=True):
                    translations[position] = translation
                bar.advance(len(rows))
        return translations

    def _encode(
        self, tokenizer: Tokenizer, texts: Sequence[str], lines: Sequence[int], settings: AnyTranslationDecoding
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

    def _translations(
        self, sources: Sequence[str], hypotheses: Sequence[list[Hypothesis]], settings: AnyTranslationDecoding
    ) -> Iterator[Translation]:
        tokenizer, stops = self.target_tokenizer, tuple[str, ...]()
        if isinstance(settings, TranslationDecoding):
            stops = settings.stop
            if settings.method == "sample":
                hypotheses = [sorted(each, key=lambda one: -one.score) for each in hypotheses]
        texts = tokenizer.decode_batch(each[0].ids for each in hypotheses)
        for source, text, candidates in zip(sources, texts, hypotheses, strict=True):
            best = candidates[0]
            text, tokens = text[: first_stop(text, stops)], tuple(tokenizer.tokens(best.ids))
            yield Translation(source, text, best.score, tokens, partial(detokenized, tokenizer, candidates, stops))

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
        requests = self._requests([sequence.tolist()] * len(tokens), prefixes, [1] * len(tokens), settings)
        for begin in range(0, len(tokens), batch):
            with self._locked():
                hypotheses += generate(self._job(settings), requests[begin : begin + batch])
        translations = self._translations([source] * len(hypotheses), hypotheses, settings)
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
