"""Mask-predict translation: all target tokens are predicted in parallel, over a few iterations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.checkpoint.bundle import Bundle
from regard.config.resolve import Layer, resolve
from regard.decoding.search.mask_predict import MaskPredictStep, likely_lengths, mask_predict
from regard.decoding.session import GenerationJob
from regard.decoding.settings import MaskPredictDecoding, TranslationDecoding
from regard.errors import ConfigError
from regard.inspection.record import recording
from regard.models.base.protocols import ConditionalMaskedLM, is_conditional_masked
from regard.nn.probes.trace import Trace
from regard.pipelines.generation import decoding_part
from regard.tasks.translate.options import AnyTranslateOptions, MaskPredictOptions, SourceRow
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.results import Alternative
from regard.tasks.translate.scoring import PairScorer
from regard.text.prefix import Prefix

Recorded = tuple[dict[str, list[str]], dict[str, NDArray[np.float32]]]
"""Tokens and arrays of a trace, by name."""
NO_PREFIX = "prefix: a mask-predict model predicts all tokens in parallel; leave it out."


class MaskPredictTranslator(Translator):
    """A conditional masked language model with tokenizers and decoding defaults."""

    options_class = MaskPredictOptions

    def options(self, given: AnyTranslateOptions | None = None, /, **overrides: object) -> MaskPredictOptions:
        """Return the options of a call; what is for autoregressive models is refused."""
        changes = {name: value for name, value in overrides.items() if value is not None}
        if "prefix" in changes:
            raise ConfigError(NO_PREFIX)
        others = TranslationDecoding.model_fields.keys() - MaskPredictDecoding.model_fields.keys()
        if name := next((each for each in changes if each in others), None):
            raise ConfigError(
                f"{name}: {changes[name]} is for autoregressive models, and this is a mask-predict model; leave it "
                f"out, and see iterations and length_candidates."
            )
        chosen = {} if given is None else given.model_dump(mode="json", exclude_unset=True)
        layers = (Layer("the checkpoint", self.defaults), Layer("the options", chosen), Layer("the call", changes))
        return resolve(MaskPredictOptions, layers).settings

    def job(self, options: AnyTranslateOptions) -> GenerationJob:
        """Return the model and settings; a batch is decoded at once."""
        settings = decoding_part(MaskPredictDecoding, options)
        return GenerationJob(self.models, self.special_tokens, settings, tokenizer=self.target_tokenizer)

    def _prefixes(self, rows: Sequence[SourceRow], options: AnyTranslateOptions) -> list[Prefix | None]:
        if any(row.prefix for row in rows):
            raise ConfigError(NO_PREFIX)
        return [None] * len(rows)

    def alternatives(self, source: str, prefix: str = "", count: int = 5, **overrides: Any) -> list[Alternative]:
        """Refuse: a parallel decoder has no next token."""
        raise ConfigError(
            "alternatives: a mask-predict model predicts all tokens in parallel, so there is no next token; other "
            "lengths are among the candidates."
        )

    @property
    def score(self) -> PairScorer:
        """Refuse: probabilities of masked tokens, each given all others, do not make one of a text."""
        raise ConfigError(
            "score: a conditional masked model predicts masked tokens, which gives no probability of a translation; "
            "score with an autoregressive model."
        )

    def inspect(
        self, *inputs: object, probes: Sequence[str] = ("*.weights",), iterations: int | None = None
    ) -> Trace:
        """Return a trace of the last mask-predict iteration, or of the forward pass of a given target.

        Beside the probes, it has for each iteration N the tokens `passes.N`, their probabilities when they were
        predicted, and 1 for those that this iteration predicted (0 for the others); and the candidate lengths with
        their probabilities.
        """
        given, tokenizer = self._inspected(inputs), self.source_tokenizer
        ids = [*tokenizer.encode(given.source).ids, tokenizer.eos_id]
        row = torch.tensor([ids], device=self.device)
        if given.target is not None:
            tokens, arrays = self._record_target(row, given.target, probes)
        else:
            tokens, arrays = self._record_iterations(row, probes, iterations)
        return Trace({"source": tokenizer.tokens(ids)} | tokens, arrays)

    @torch.inference_mode()
    def _record_target(self, source: Tensor, target: str, probes: Sequence[str]) -> Recorded:
        """Return the probes of a forward pass over an unmasked target."""
        tokenizer = self.target_tokenizer
        ids = [*tokenizer.encode(target).ids, tokenizer.eos_id]
        row = torch.tensor([ids], device=self.device)
        with recording(self.model, probes) as arrays:
            memory = self.model.encode(source, torch.ones_like(source, dtype=torch.bool))
            self.model.decode(row, memory, torch.ones_like(row, dtype=torch.bool))
        return {"target": tokenizer.tokens(ids)}, arrays

    @torch.inference_mode()
    def _record_iterations(self, source: Tensor, probes: Sequence[str], iterations: int | None) -> Recorded:
        """Return the probes and tokens of every iteration, for the length of the best translation."""
        settings = self.options(iterations=iterations, collapse_repeats=False)
        token_mask = torch.ones_like(source, dtype=torch.bool)
        inputs = self.model, source, token_mask, self.special_tokens, settings
        with self.locked():
            best = mask_predict(*inputs)[0][0]
            lengths = _lengths(self.model, source, token_mask)
        steps: list[MaskPredictStep] = []
        with recording(self.model, probes) as arrays:
            mask_predict(*inputs, steps.append, torch.tensor([[len(best.ids) + 1]], device=self.device))
        tokens = {}
        for number, each in enumerate(steps):
            tokens[f"passes.{number}"] = self.target_tokenizer.tokens(each.tokens[0].tolist())
            arrays[f"passes.{number}.probabilities"] = each.sure[0].clamp_max(0).exp().cpu().numpy()
            arrays[f"passes.{number}.masked"] = each.masked[0].float().cpu().numpy()
        return tokens | {"target": tokens[f"passes.{len(steps) - 1}"]}, arrays | lengths


def _lengths(model: ConditionalMaskedLM, source: Tensor, token_mask: Tensor) -> dict[str, NDArray[np.float32]]:
    """Return the candidate lengths of one output in tokens without EOS, most probable first."""
    lengths, log_p = (
        each[0] for each in likely_lengths(model, model.encode(source, token_mask), 2 * model.max_length_offset + 1)
    )
    is_possible = log_p > -torch.inf
    arrays = {"lengths": (lengths[is_possible] - 1).float(), "lengths.probabilities": log_p[is_possible].exp()}
    return {name: each.cpu().numpy() for name, each in arrays.items()}


def build_translator(bundle: Bundle, others: Sequence[Bundle] = ()) -> Translator:
    """Return the translator of a model, or of an ensemble."""
    if not any(is_conditional_masked(each.model) for each in (bundle, *others)):
        return Translator(bundle, others)
    if others:
        raise ConfigError(
            "ensemble: only autoregressive models form an ensemble, and one of these is a mask-predict model; leave "
            "it out."
        )
    return MaskPredictTranslator(bundle)
