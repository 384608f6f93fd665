"""The pipeline of a language model: prompts are continued, texts scored and inspected."""

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, overload

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.lines import is_text
from regard.decoding.generate import generate, stream
from regard.decoding.session import GenerationJob
from regard.decoding.settings import TextDecoding, with_overrides
from regard.decoding.steppers.decoder_only import window_start
from regard.decoding.steppers.interface import Hypothesis, Request, SpecialTokens
from regard.errors import ConfigError, DataError
from regard.inspection.logit_lens import record_lens
from regard.inspection.record import exclusive, record_text
from regard.nn.inference.int8 import without_int8
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.probes.probe import probes
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.language_model.quantization import WeightsCost, use_quantized, weights_cost
from regard.tasks.language_model.records import LanguageFacts
from regard.tasks.language_model.results import Completion, NextToken, TextScore
from regard.tasks.language_model.scoring import ScoredToken, plan_windows, text_log_probabilities
from regard.text.detokenizer import first_stop
from regard.text.prefix import Forced, forced_prefixes
from regard.text.tokenizer import Tokenizer

BATCH_TOKENS = {"cpu": 16384, "cuda": 65536}
"""Tokens of a batch, prompts and new tokens together."""


class Generator:
    """A language model with its tokenizer and its generation defaults."""

    def __init__(self, bundle: Bundle, quantize: str = "none") -> None:
        self.bundle = bundle
        self.model: Any = bundle.model
        self.quantize = quantize
        drop_prepacked(self.model)
        use_quantized(self.model, quantize)
        self.tokenizer: Tokenizer = bundle.tokenizers["tokenizer"]
        self.device = next(bundle.model.parameters()).device

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the model, and the facts of its checkpoint."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    def generation(self, **overrides: Any) -> TextDecoding:
        """Return the checkpoint's generation settings with overrides (see `with_overrides`)."""
        return with_overrides(TextDecoding, LanguageFacts.read(self.bundle).generate, overrides)

    @overload
    def __call__(
        self, prompt: str, *, prefix: Forced = None, first_row: int = 1, progress: Progress = SILENT, **overrides: Any
    ) -> Completion: ...
    @overload
    def __call__(
        self,
        prompt: Sequence[str],
        *,
        prefix: Forced = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **overrides: Any,
    ) -> list[Completion]: ...
    def __call__(
        self,
        prompt: str | Sequence[str],
        *,
        prefix: Forced = None,
        first_row: int = 1,
        progress: Progress = SILENT,
        **overrides: Any,
    ) -> Completion | list[Completion]:
        """Continue one prompt, or many in their order; settings such as temperature=0.8 are keyword arguments.

        `prefix` is a forced beginning of the outputs: one for all prompts, or one (or None) for each. `first_row` is
        the number of the first prompt in its file: errors name it, and random numbers depend on it.
        """
        settings = self.generation(**overrides)
        job = self._job(settings)
        requests = self._requests([prompt] if isinstance(prompt, str) else list(prompt), prefix, first_row, settings)
        hypotheses: list[list[Hypothesis]] = [[]] * len(requests)
        with progress.bar("generate", len(requests)) as bar:
            for rows in self._batches(requests, job):
                with exclusive(self.model):
                    together = generate(job, [requests[row] for row in rows])
                for row, each in zip(rows, together, strict=True):
                    hypotheses[row] = each[: settings.num_samples]
                bar.advance(len(rows))
        completions = [self._completion(job, settings, *each) for each in zip(requests, hypotheses, strict=True)]
        return completions[0] if isinstance(prompt, str) else completions

    def stream(
        self, prompt: str, *, prefix: str | None = None, first_row: int = 1, **overrides: Any
    ) -> Iterator[str]:
        """Yield the continuation of a prompt in chunks as it is generated; joined, they are the text of a call.

        A chunk never ends within a character, and text that may turn out to be a stop text is withheld. A beam search
        yields text once it can no longer change.
        """
        settings = self.generation(**overrides)
        (request,) = self._requests([prompt], prefix, first_row, settings)
        return stream(self._job(settings), request, lambda: exclusive(self.model))

    def _job(self, settings: TextDecoding) -> GenerationJob:
        tokenizer = self.tokenizer
        # One token may do several works; EOS is generated all the same.
        never = {tokenizer.pad_id, tokenizer.bos_id, tokenizer.unk_id} - {tokenizer.eos_id}
        ends = SpecialTokens(tokenizer.bos_id, tokenizer.eos_id, tuple(sorted(never)))
        return GenerationJob([self.model], ends, settings, self._window(settings), tokenizer)

    def _window(self, settings: TextDecoding) -> int | None:
        """Return the context window in tokens."""
        bound, wanted = self.model.max_positions, settings.context_window
        if wanted is None:
            return bound
        if wanted == "trained":
            wanted = LanguageFacts.read(self.bundle).window
            if wanted is None:
                raise ConfigError(
                    'context_window: "trained" has no value in this checkpoint; give a number, or leave it out.'
                )
        if bound is not None and wanted > bound:
            raise ConfigError(f"context_window: {wanted:,} is more than the {bound:,} tokens this model takes.")
        return int(wanted)

    def _requests(
        self, texts: Sequence[str], prefix: Forced, first_row: int, settings: TextDecoding
    ) -> list[Request]:
        requests, encoded = [], self._encode(texts, first_row)
        prefixes = forced_prefixes(self.tokenizer, prefix, len(texts), settings.max_new_tokens)
        for line, (text, ids, forced) in enumerate(zip(texts, encoded, prefixes, strict=True), first_row):
            front = [self.tokenizer.eos_id] if settings.add_bos or not ids else []
            requests.append(Request([*front, *ids], settings.max_new_tokens, line, forced, text))
        return requests

    def _encode(self, texts: Sequence[str], first_row: int) -> list[list[int]]:
        for line, text in enumerate(texts, first_row):
            if not is_text(text):
                raise DataError(f"line {line:,} is not UTF-8 text; convert it first.")
        return self.tokenizer.encode_batch(texts)

    @property
    def _batch_tokens(self) -> int:
        return BATCH_TOKENS.get(self.device.type, BATCH_TOKENS["cpu"])

    def _batches(self, requests: Sequence[Request], job: GenerationJob) -> Iterator[list[int]]:
        """Yield the indices of prompts of similar length that make up a batch."""
        if not requests:
            return
        lengths = np.array([len(each.ids) - window_start(len(each.ids), job.window) for each in requests], np.int64)
        new = np.array([each.limit for each in requests])
        limit = max(1, self._batch_tokens // job.settings.hypotheses)
        yield from (rows.tolist() for rows in micro_batches(np.arange(len(requests)), lengths, new, limit))

    def _completion(
        self, job: GenerationJob, settings: TextDecoding, request: Request, hypotheses: Sequence[Hypothesis]
    ) -> Completion:
        """Return the first continuation of a prompt, with all of them where there are several."""
        samples = []
        for each in hypotheses:
            ids = (*each.ids, self.tokenizer.eos_id) if each.finish_reason == "eos" else tuple(each.ids)
            tokens, values = tuple(self.tokenizer.tokens(ids)), tuple(each.token_log_probabilities)
            text = job.text_of(request, each.ids)
            text = text[: first_stop(text, settings.stop)]
            samples.append(Completion(request.text, text, tokens, ids, values, each.finish_reason))
        return samples[0] if len(samples) == 1 else replace(samples[0], samples=tuple(samples))

    def score(
        self,
        texts: Sequence[str],
        stride: int | None = None,
        alternatives: int = 0,
        *,
        score_eos: bool = False,
        full: bool = False,
        first_row: int = 1,
        progress: Progress = SILENT,
    ) -> list[TextScore]:
        """Return the log probability of each token of each text, the first one given EOS.

        A text longer than the model's window is scored in windows, `stride` tokens apart (default: half a window).
        `alternatives` is the number of most probable tokens returned for each position; with `score_eos`, EOS after
        each text is scored too; `full` uses the full weights where the model was loaded with quantized ones.
        """
        if isinstance(texts, str):
            raise ConfigError("score: one text is given where a list of them is expected; write [text].")
        end = self.tokenizer.eos_id
        last = [end] if score_eos else []
        encoded = [[end, *ids, *last] for ids in self._encode(texts, first_row)]
        scored = self._score_ids(encoded, stride, alternatives, full, progress)
        return [self._score(text, ids[1:], each) for text, ids, each in zip(texts, encoded, scored, strict=True)]

    def _score_ids(
        self, encoded: Sequence[Sequence[int]], stride: int | None, alternatives: int, full: bool, progress: Progress
    ) -> list[list[ScoredToken]]:
        """Return the score of each token but the first, of texts as ids."""
        windows = plan_windows([len(ids) for ids in encoded], self.reach, stride)
        if not windows:
            return [[] for _ in encoded]
        with exclusive(self.model), without_int8(self.model) if full else nullcontext():
            return text_log_probabilities(
                self.model, Sequences.of(encoded), windows, self._batch_tokens, alternatives, progress
            )

    def weights_cost(self, texts: Sequence[str | Sequence[int]], progress: Progress = SILENT) -> WeightsCost:
        """Return the increase in perplexity due to quantized weights on texts, or on their ids."""
        if self.quantize == "none":
            raise ConfigError(
                "quantize: this model has its full weights, so there is no cost; load it with int8 weights."
            )
        ids = [self._encode([text], line)[0] if isinstance(text, str) else text for line, text in enumerate(texts, 1)]
        rows = [[self.tokenizer.eos_id, *each] for each in ids]
        both = [self._score_ids(rows, None, 0, full, progress) for full in (True, False)]
        full, quantized = ([[value for value, _ in text] for text in scored] for scored in both)
        return weights_cost(full, quantized)

    @property
    def reach(self) -> int | None:
        """The context window for scoring in tokens: the model's maximum, or the window it was trained with.

        None for a recurrent model, whose state holds a text of any length.
        """
        if self.model.max_positions is not None:
            return int(self.model.max_positions)
        attends = any(name.endswith("attention.weights") for name in probes(self.model))
        return LanguageFacts.read(self.bundle).window if attends else None

    def _score(self, text: str, ids: Sequence[int], scored: Sequence[ScoredToken]) -> TextScore:
        best = tuple(self._next(choices) for _, choices in scored if choices)
        values = tuple(value for value, _ in scored)
        return TextScore(text, tuple(self.tokenizer.tokens(ids)), tuple(ids), values, best)

    def _next(self, choices: Sequence[tuple[int, float]]) -> tuple[NextToken, ...]:
        tokens = self.tokenizer.tokens([number for number, _ in choices])
        return tuple(
            NextToken(token, number, math.exp(value)) for token, (number, value) in zip(tokens, choices, strict=True)
        )

    def next_tokens(self, text: str, count: int = 5) -> list[tuple[NextToken, ...]]:
        """Return the most probable next tokens at every position of a text: before each token, and after the last."""
        (score,) = self.score([text], alternatives=count, score_eos=True)
        return list(score.alternatives)

    def inspect(self, text: str, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Record the activations of a forward pass over EOS and a text."""
        row, tokens = self._row("inspect", text)
        return record_text(self.model, row, tokens, probes)

    def logit_lens(self, text: str, count: int = 5) -> Trace:
        """Record each block's next-token prediction at every position (logit lens, see `inspection.record_lens`)."""
        row, tokens = self._row("logit_lens", text)
        return record_lens(self.model, row, tokens, self.tokenizer.tokens, count)

    def _row(self, name: str, text: str) -> tuple[torch.Tensor, dict[str, list[str]]]:
        """Return EOS and a text as ids (T,), and as tokens."""
        ids = [self.tokenizer.eos_id, *self._encode([text], 1)[0]]
        bound = self.model.max_positions
        if bound is not None and len(ids) > bound:
            raise DataError(
                f"{name}: the text has {len(ids):,} tokens including EOS before it, but this model takes "
                f"{bound:,} at most; shorten it."
            )
        return torch.tensor(ids, device=self.device), {"text": self.tokenizer.tokens(ids)}
