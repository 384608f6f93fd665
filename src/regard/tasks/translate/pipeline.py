"""The translation pipeline: text in one language in, text in another out."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.decoding.generate import generate
from regard.decoding.scoring import next_log_probabilities
from regard.decoding.session import GenerationJob
from regard.decoding.settings import MASK_PREDICT_ONLY, GenerationSettings, TranslationDecoding
from regard.decoding.steppers.interface import Hypothesis, Request, SpecialTokens
from regard.errors import ConfigError, DataError
from regard.inspection.record import record_translation
from regard.nn.probes.trace import Trace
from regard.pipelines.generation import GeneratingPipeline, decoding_options, decoding_part
from regard.pipelines.inputs import as_row, check_text, split_rows
from regard.progress import Progress
from regard.tasks.data import translation_tokenizers
from regard.tasks.translate.options import (
    AnyTranslateOptions,
    SourceAndTarget,
    SourceRow,
    TranslateOptions,
)
from regard.tasks.translate.paragraphs import rejoined, sentences_of, translate_paragraphs
from regard.tasks.translate.results import Alternative, Translation, detokenized
from regard.tasks.translate.scoring import PairScorer
from regard.text.detokenizer import first_stop
from regard.text.prefix import Prefix, exact_prefix, forced_prefixes, prefix_ids
from regard.text.tokenizer import Tokenizer

BATCH_TOKENS = {"cpu": 16384, "cuda": 32768}
"""Padded source tokens per batch, all hypotheses counted: fits a CPU's cache, fills a GPU."""
SENTENCES = 2**16
"""Sentences of a text that are sampled independently of each other."""


class Translator(GeneratingPipeline[SourceRow, AnyTranslateOptions, Translation]):
    """A translation model, or an ensemble of them, with tokenizers and decoding defaults."""

    row = SourceRow
    inputs = ("source",)
    options_class: type[AnyTranslateOptions] = TranslateOptions
    bar = "translate"
    paragraphs = translate_paragraphs

    def __init__(self, bundle: Bundle, others: Sequence[Bundle] = ()) -> None:
        super().__init__(bundle, others)
        self.source_tokenizer, self.target_tokenizer = translation_tokenizers(bundle.tokenizers)
        self.batch_tokens = BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    @property
    def tokenizer(self) -> Tokenizer:
        """The target tokenizer, which is the source tokenizer too where they share one."""
        return self.target_tokenizer

    @property
    def defaults(self) -> Mapping[str, object]:
        """The checkpoint's decoding settings."""
        return dict(self.bundle.facts.get("decode", {}))

    def options(self, given: AnyTranslateOptions | None = None, /, **overrides: object) -> AnyTranslateOptions:
        """Return the options of a call; what is for mask-predict models is refused."""
        if name := next((each for each in MASK_PREDICT_ONLY if overrides.get(each) is not None), None):
            is_for = "is for mask-predict models, and this is an autoregressive one"
            raise ConfigError(f"{name}: {overrides[name]} {is_for}; leave it out.")
        return decoding_options(TranslateOptions, self.defaults, given, overrides)

    def job(self, options: AnyTranslateOptions) -> GenerationJob:
        """Return the models, settings and target tokenizer."""
        settings = decoding_part(TranslationDecoding, options)
        return GenerationJob(self.models, self.special_tokens, settings, tokenizer=self.target_tokenizer)

    def requests(
        self, rows: Sequence[SourceRow], options: AnyTranslateOptions, numbers: Sequence[int], where: Sequence[str]
    ) -> list[Request | None]:
        """Return the request of each source; None for a blank one, whose translation is blank."""
        if options.paragraphs:
            raise ConfigError("paragraphs: this is for a call, not for one request; send the sentences one by one.")
        for row, origin in zip(rows, where, strict=True):
            check_text(row.source, origin, may_be_blank=True)
        kept = [index for index, row in enumerate(rows) if row.source.strip()]
        texts, origins = [rows[index].source for index in kept], [where[index] for index in kept]
        encoded = self.encode(self.source_tokenizer, texts, origins, options.max_source_length)
        prefixes = self._prefixes([rows[index] for index in kept], options)
        made: list[Request | None] = [None] * len(rows)
        for index, ids, prefix in zip(kept, encoded, prefixes, strict=True):
            made[index] = self._request(ids, options, numbers[index], prefix)
        return made

    def _results(
        self,
        given: Sequence[object],
        options: AnyTranslateOptions,
        where: Sequence[str],
        progress: Progress,
        numbers: Sequence[int],
    ) -> list[Translation]:
        if not options.paragraphs:
            return super()._results(given, options, where, progress, numbers)
        rows = [as_row(self.row, self.inputs, each, origin) for each, origin in zip(given, where, strict=True)]
        for row, origin in zip(rows, where, strict=True):
            check_text(row.source, origin, may_be_blank=True)
        parts = [list(sentences_of(row.source)) for row in rows]
        sentences = [[SourceRow(each) for _, each, _ in part if each] for part in parts]
        # So many numbers a row, so that what is sampled does not depend on the rows before.
        counted = [
            (number - 1) * SENTENCES + place
            for number, row in zip(numbers, sentences, strict=True)
            for place in range(1, len(row) + 1)
        ]
        origins = [origin for origin, row in zip(where, sentences, strict=True) for _ in row]
        alone = options.model_copy(update={"paragraphs": False})
        translated = iter(
            super()._results([each for row in sentences for each in row], alone, origins, progress, counted)
        )
        return [
            self._paragraph(row, part, tuple(islice(translated, len(each))))
            for row, part, each in zip(rows, parts, sentences, strict=True)
        ]

    def _paragraph(
        self, row: SourceRow, parts: Sequence[tuple[str, str, str]], sentences: tuple[Translation, ...]
    ) -> Translation:
        """Return the translation of a text from those of its sentences; its score is their mean."""
        score = math.fsum(each.score for each in sentences) / max(1, len(sentences))
        tokens = tuple(token for each in sentences for token in each.tokens)
        return Translation(
            row, rejoined(parts, [each.text for each in sentences]), score, tokens, tuple, sentences=sentences
        )

    def _request(
        self, ids: Sequence[int], options: AnyTranslateOptions, number: int, prefix: Prefix | None
    ) -> Request:
        """Return the request of a source as ids, with EOS; mask-predict predicts its lengths."""
        known, limit = len(prefix.choices) if prefix else 0, 0
        if isinstance(options, TranslateOptions):
            limit = options.limit(len(ids), self.bound, known)
        return Request(ids, limit, number, prefix)

    def _prefixes(self, rows: Sequence[SourceRow], options: AnyTranslateOptions) -> list[Prefix | None]:
        """Return the prefix of each row, else that of the options; one as long as the output may be is refused."""
        common = options.prefix if isinstance(options, TranslateOptions) else None
        bounds = [bound for bound in (options.longest, self.bound) if bound is not None]
        texts = [common if row.prefix is None else row.prefix for row in rows]
        return forced_prefixes(self.target_tokenizer, texts, min(bounds, default=None))

    def results(
        self,
        rows: Sequence[SourceRow],
        options: AnyTranslateOptions,
        job: GenerationJob,
        requests: Sequence[Request | None],
        hypotheses: Sequence[Sequence[Hypothesis]],
    ) -> list[Translation]:
        """Return the translation of each source; blank where there is no request."""
        tokenizer, stops, settings = self.target_tokenizer, tuple[str, ...](), job.settings
        if isinstance(settings, GenerationSettings):
            stops = settings.stop
            if settings.method == "sample":
                hypotheses = [sorted(each, key=lambda one: -one.score) for each in hypotheses]
        texts = iter(tokenizer.decode_batch(each[0].ids for each in hypotheses if each))
        results = []
        for row, candidates in zip(rows, hypotheses, strict=True):
            if not candidates:
                results.append(Translation(row, "", 0.0, (), tuple, options.n_best))
                continue
            text, best = next(texts), candidates[0]
            tokens, find = tuple(tokenizer.tokens(best.ids)), partial(detokenized, tokenizer, candidates, stops)
            results.append(
                Translation(row, text[: first_stop(text, stops)], best.score, tokens, find, options.n_best)
            )
        return results

    @property
    def bound(self) -> int | None:
        """The maximum sequence length of the models in tokens; None: there is none."""
        return min((model.max_positions for model in self.models if model.max_positions is not None), default=None)

    @property
    def special_tokens(self) -> SpecialTokens:
        """BOS, EOS, and the tokens that are never generated."""
        own = self.target_tokenizer
        return SpecialTokens(own.bos_id, own.eos_id, own.suppressed_ids)

    def encode(self, tokenizer: Tokenizer, texts: Sequence[str], where: Sequence[str], limit: int) -> list[list[int]]:
        """Return the token ids of texts, each with EOS; one that is too long is refused by its `where`."""
        encoded = [[*ids, tokenizer.eos_id] for ids in tokenizer.encode_batch(texts)]
        bound = self.bound
        for origin, ids in zip(where, encoded, strict=True):
            if bound is not None and len(ids) > bound:
                raise DataError(
                    f"{origin} has {len(ids):,} tokens, but this model takes {bound:,} at most; "
                    f"split it into sentences."
                )
            if len(ids) > limit:
                raise DataError(
                    f"{origin} has {len(ids):,} tokens, more than decode.max_source_length {limit:,}; split it "
                    f"into sentences, or raise the setting if there is memory for it."
                )
        return encoded

    def alternatives(self, source: str, prefix: str = "", count: int = 5, **overrides: Any) -> list[Alternative]:
        """Return the most probable next tokens after a prefix of the translation, each with its continuation."""
        options, tokenizer = self.options(**overrides), self.tokenizer
        for name in ("n_best", "paragraphs"):
            if value := getattr(options, name):
                raise ConfigError(f"{name}: {value} has no meaning with alternatives; leave one of them out.")
        given = self.request(SourceRow(source), options)
        if given is None:
            raise DataError("alternatives: the source is empty; give it a sentence.")
        ids, followers = prefix_ids(tokenizer, prefix) if prefix else ([], None)
        row = torch.tensor(given.ids, device=self.device)
        decoded = torch.tensor([tokenizer.bos_id, *ids], device=self.device)
        allowed = followers or [token for token in range(tokenizer.size) if token not in self.special_tokens.never]
        with self.locked():
            log_p = next_log_probabilities(self.models, row, decoded)[torch.tensor(allowed, device=self.device)]
        values, order = log_p.topk(min(count, len(allowed)))
        tokens = [allowed[index] for index in order.tolist()]
        prefixes = [exact_prefix(ids if token == tokenizer.eos_id else [*ids, token]) for token in tokens]
        job, batch = self.job(options), max(1, self.batch_tokens // (options.hypotheses * len(row)))
        requests = [self._request(given.ids, options, 1, each) for each in prefixes]
        hypotheses: list[list[Hypothesis]] = []
        for begin in range(0, len(tokens), batch):
            with self.locked():
                hypotheses += generate(job, requests[begin : begin + batch])
        translations = self.results([SourceRow(source)] * len(tokens), options, job, requests, hypotheses)
        return [
            Alternative(
                math.exp(value),
                tokenizer.tokens([token])[0],
                tokenizer.decode(ids) if token == tokenizer.eos_id else each.text,
            )
            for token, value, each in zip(tokens, values.tolist(), translations, strict=True)
        ]

    @property
    def score(self) -> PairScorer:
        """The pipeline that returns the log probabilities of a translation: `translator.score(source, target)`."""
        return PairScorer(self)

    def inspect(self, *inputs: object, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Return a trace of the forward pass over a source and a target (default: the model's own translation)."""
        given = self._inspected(inputs)
        source_tokenizer, target_tokenizer = self.source_tokenizer, self.target_tokenizer
        source_ids = [*source_tokenizer.encode(given.source).ids, source_tokenizer.eos_id]
        if given.target is None:
            output = self(given.source).candidates[0].ids
        else:
            output = tuple(target_tokenizer.encode(given.target).ids)
        target_ids = [target_tokenizer.bos_id, *output]
        tokens = {
            "source": source_tokenizer.tokens(source_ids),
            "target": target_tokenizer.tokens([*output, target_tokenizer.eos_id]),
            "input": target_tokenizer.tokens(target_ids),
        }
        source_row, target_row = (torch.tensor(ids, device=self.device) for ids in (source_ids, target_ids))
        return record_translation(self.model, source_row, target_row, tokens, probes)

    def _inspected(self, inputs: tuple[object, ...]) -> SourceAndTarget:
        given = as_row(SourceAndTarget, ("source", "target"), split_rows(inputs)[0][0], "inspect")
        if not given.source.strip():
            raise DataError("inspect: the source is empty; give it a sentence.")
        return given
