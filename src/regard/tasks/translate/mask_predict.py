"""A translator that fills in masked words, all of an output at once, in a few passes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.checkpoint.bundle import Bundle
from regard.config.resolve import Layer, resolve
from regard.decoding.search.mask_predict import MaskPredictStep, likely_lengths, mask_predict
from regard.decoding.settings import AnyDecodeSettings, DecodeSettings, MaskPredictDecodeSettings
from regard.errors import ConfigError, DataError
from regard.inspection.record import recording
from regard.models.base.protocols import ConditionalMaskedLM, is_conditional_masked
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.translate.pipeline import Translator
from regard.tasks.translate.results import Alternative, PairScore
from regard.text.prefix import Prefix

Seen = tuple[dict[str, list[str]], dict[str, NDArray[np.float32]]]
"""Tokens and arrays by name."""


class MaskPredictTranslator(Translator):
    """A conditional masked model with tokenizers and decoding defaults."""

    def decoding(self, **overrides: Any) -> AnyDecodeSettings:
        """Return the checkpoint's decoding settings with some of them changed."""
        return self._settings(**overrides)

    def _settings(self, **overrides: Any) -> MaskPredictDecodeSettings:
        changes = {name: value for name, value in overrides.items() if value is not None}
        others = DecodeSettings.model_fields.keys() - MaskPredictDecodeSettings.model_fields.keys()
        if name := next((each for each in changes if each in others), None):
            raise ConfigError(
                f"{name}: {changes[name]} is for models that say one word after the other, and this one fills in all "
                f"at once; leave it out, and see iterations and length_candidates."
            )
        layers = [Layer("the checkpoint", self.bundle.facts.get("decode", {})), Layer("the call", changes)]
        return resolve(MaskPredictDecodeSettings, layers).settings

    def _prefixes(
        self, prefix: str | Sequence[str | None] | None, count: int, settings: AnyDecodeSettings
    ) -> list[Prefix | None]:
        if prefix:
            raise ConfigError("prefix: this model fills in all words at once, whatever the first are; leave it out.")
        return [None] * count

    def alternatives(self, source: str, prefix: str = "", count: int = 5, **decoding: Any) -> list[Alternative]:
        """Refuse: nothing comes next where all words come at once."""
        raise ConfigError(
            "alternatives: this model fills in all words at once, so that none comes next; other lengths are among "
            "the candidates."
        )

    def score(
        self, pairs: Sequence[tuple[str, str]], *, first_row: int = 1, progress: Progress = SILENT, **decoding: Any
    ) -> list[PairScore]:
        """Refuse: probabilities of masked words, each given all others, are no probability of a text."""
        raise ConfigError(
            "score: this model gives probabilities of masked words and none of a whole translation; score with a "
            "model that says one word after the other."
        )

    def inspect(
        self,
        source: str,
        target: str | None = None,
        probes: Sequence[str] = ("*.weights",),
        iterations: int | None = None,
    ) -> Trace:
        """Record what the model does while it fills in a translation, or reads the `target` given.

        Beside what the probes saw in the last pass, there are for each pass N the tokens `passes.N`, their
        probabilities when they were filled in, and which ones this pass filled in (1) or found (0); and the lengths
        that a translation may have, with their probabilities.
        """
        if not source.strip():
            raise DataError("inspect: the source is empty; give it a sentence.")
        reader = self.source_tokenizer
        ids = [*reader.encode(source).ids, reader.eos_id]
        row = torch.tensor([ids], device=self.device)
        look = self._reading if target is not None else self._filling_in
        tokens, arrays = look(row, target or "", probes, iterations)
        return Trace({"source": reader.tokens(ids)} | tokens, arrays)

    @torch.inference_mode()
    def _reading(self, source: Tensor, target: str, probes: Sequence[str], iterations: int | None) -> Seen:
        """Return what is seen while the decoder reads a target of which nothing is masked."""
        writer = self.target_tokenizer
        said = [*writer.encode(target).ids, writer.eos_id]
        row = torch.tensor([said], device=self.device)
        with recording(self.model, probes) as arrays:
            memory = self.model.encode(source, torch.ones_like(source, dtype=torch.bool))
            self.model.decode(row, memory, torch.ones_like(row, dtype=torch.bool))
        return {"target": writer.tokens(said)}, arrays

    @torch.inference_mode()
    def _filling_in(self, source: Tensor, target: str, probes: Sequence[str], iterations: int | None) -> Seen:
        """Return what is seen while the decoder fills in a translation of the length that turns out best."""
        settings, token_mask = (
            self._settings(iterations=iterations, collapse_repeats=False),
            torch.ones_like(source, dtype=torch.bool),
        )
        given = self.model, source, token_mask, self._ends, settings
        with self._alone():
            best = mask_predict(*given)[0][0]
            lengths = _lengths(self.model, source, token_mask)
        found: list[MaskPredictStep] = []
        with recording(self.model, probes) as arrays:
            mask_predict(*given, found.append, torch.tensor([[len(best.ids) + 1]], device=self.device))
        tokens = {}
        for number, each in enumerate(found):
            tokens[f"passes.{number}"] = self.target_tokenizer.tokens(each.tokens[0].tolist())
            arrays[f"passes.{number}.probabilities"] = each.sure[0].clamp_max(0).exp().cpu().numpy()
            arrays[f"passes.{number}.masked"] = each.masked[0].float().cpu().numpy()
        return tokens | {"target": tokens[f"passes.{len(found) - 1}"]}, arrays | lengths


def _lengths(model: ConditionalMaskedLM, source: Tensor, token_mask: Tensor) -> dict[str, NDArray[np.float32]]:
    """Return the lengths, in tokens without the end, that an output of one source may have, most probable first."""
    lengths, chances = (
        each[0] for each in likely_lengths(model, model.encode(source, token_mask), 2 * model.max_length_offset + 1)
    )
    can_be = chances > -torch.inf
    found = (lengths[can_be] - 1).float(), chances[can_be].exp()
    return dict(zip(("lengths", "lengths.probabilities"), (each.cpu().numpy() for each in found), strict=True))


def build_translator(bundle: Bundle, others: Sequence[Bundle] = ()) -> Translator:
    """Return the translator of a model, or of an ensemble."""
    if not any(is_conditional_masked(each.model) for each in (bundle, *others)):
        return Translator(bundle, others)
    if others:
        raise ConfigError(
            "ensemble: only models that say one word after the other decide together, and one of these fills in all "
            "at once; leave it out."
        )
    return MaskPredictTranslator(bundle)
