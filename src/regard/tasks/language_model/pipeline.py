"""The beginning of a text in, more of it out."""

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, overload

import numpy as np
import torch

from regard.checkpoint.bundle import Bundle
from regard.config.resolve import Layer, resolve
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.sampler import micro_batches
from regard.data.sources.lines import is_text
from regard.decoding.session import GenerationJob, GenerationSession, continue_prompts
from regard.decoding.settings import DRAWING_ONLY, GenerateSettings
from regard.decoding.steppers.decoder_only import window_start
from regard.decoding.steppers.interface import SpecialTokens
from regard.decoding.steppers.requests import Prompt, RunningSequence
from regard.errors import ConfigError, DataError
from regard.inspection.logit_lens import record_lens
from regard.inspection.record import exclusive, record_text
from regard.nn.inference.int8 import own_weights
from regard.nn.inference.prepacked import drop_prepacked
from regard.nn.probes.probe import probes
from regard.nn.probes.trace import Trace
from regard.progress import SILENT, Progress
from regard.tasks.language_model.quantization import WeightsCost, use_quantized, weights_cost
from regard.tasks.language_model.results import Completion, NextToken, TextScore
from regard.tasks.language_model.scoring import Found, plan_windows, text_log_probabilities
from regard.text.detokenizer import first_stop, text_behind
from regard.text.tokenizer import Tokenizer

TOKENS_AT_ONCE = {"cpu": 16384, "cuda": 65536}
"""Tokens, read and said, that are kept of prompts that are continued together."""


class Generator:
    """A language model with its tokenizer and its defaults of generation."""

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
        """The settings of the model and of generation."""
        return {"model": self.bundle.settings.model_dump(), **self.bundle.facts}

    def generation(self, **overrides: Any) -> GenerateSettings:
        """Return the checkpoint's settings of generation with some of them changed.

        A call that draws nothing leaves behind what the checkpoint says about drawing.
        """
        changes = {name: value for name, value in overrides.items() if value is not None}
        if isinstance(changes.get("stop"), str):
            changes["stop"] = [changes["stop"]]
        own = dict(self.bundle.facts.get("generate", {}))
        if changes.get("temperature") == 0:
            own = {name: value for name, value in own.items() if name not in DRAWING_ONLY}
        return resolve(GenerateSettings, [Layer("the checkpoint", own), Layer("the call", changes)]).settings

    @overload
    def __call__(
        self, prompt: str, *, first_row: int = 1, progress: Progress = SILENT, **settings: Any
    ) -> Completion: ...
    @overload
    def __call__(
        self, prompt: Sequence[str], *, first_row: int = 1, progress: Progress = SILENT, **settings: Any
    ) -> list[Completion]: ...
    def __call__(
        self, prompt: str | Sequence[str], *, first_row: int = 1, progress: Progress = SILENT, **settings: Any
    ) -> Completion | list[Completion]:
        """Continue one prompt, or many in their order; settings such as temperature=0.8 may be given by name.

        `first_row` is the number of the first prompt in what it was taken from: messages name it, and draws follow
        from it.
        """
        job = self._job(self.generation(**settings))
        prompts = self._prompts([prompt] if isinstance(prompt, str) else list(prompt), first_row, job.settings)
        found: list[list[RunningSequence]] = [[]] * len(prompts)
        with progress.bar("generate", len(prompts)) as bar:
            for rows in self._batches(prompts, job):
                with exclusive(self.model):
                    together = continue_prompts(job, [prompts[row] for row in rows])
                for row, each in zip(rows, together, strict=True):
                    found[row] = each
                bar.advance(len(rows))
        answers = [self._answer(each) for each in found]
        return answers[0] if isinstance(prompt, str) else answers

    def stream(self, prompt: str, *, first_row: int = 1, **settings: Any) -> Iterator[str]:
        """Yield the text that follows a prompt, piece by piece as it is said; joined, it is that of a call.

        No piece holds a part of a character, or what may become a text to stop at.
        """
        chosen = self.generation(**settings)
        if chosen.num_samples > 1:
            raise ConfigError(
                f"num_samples: {chosen.num_samples} texts cannot be said at once; ask for one, or call."
            )
        job = self._job(chosen, writes=True)
        return self._pieces(job, self._prompts([prompt], first_row, chosen))

    def _pieces(self, job: GenerationJob, prompts: list[Prompt]) -> Iterator[str]:
        continuing = GenerationSession(job, prompts)
        (row,) = continuing.rows
        while row.finish_reason is None:
            # One step at a time: whoever takes the pieces may use the model in between.
            with exclusive(self.model), job.working(1):
                continuing.step()
            if row.piece:
                yield row.piece

    def _job(self, settings: GenerateSettings, writes: bool = False) -> GenerationJob:
        tokenizer = self.tokenizer
        ends = SpecialTokens(
            tokenizer.bos_id, tokenizer.eos_id, (tokenizer.pad_id, tokenizer.bos_id, tokenizer.unk_id)
        )
        writer = tokenizer if settings.stop or writes else None
        return GenerationJob(self.model, ends, settings, self._window(settings), writer)

    def _window(self, settings: GenerateSettings) -> int | None:
        """Return how many tokens are looked back on."""
        bound, wanted = self.model.max_positions, settings.context_window
        if wanted is None:
            return bound
        if wanted == "trained":
            wanted = self.bundle.facts.get("window")
            if wanted is None:
                raise ConfigError(
                    'context_window: "trained" is not known of this model; give a number, or leave it out.'
                )
        if bound is not None and wanted > bound:
            raise ConfigError(f"context_window: {wanted:,} is more than the {bound:,} tokens this model takes.")
        return int(wanted)

    def _prompts(self, texts: Sequence[str], first_row: int, settings: GenerateSettings) -> list[Prompt]:
        prompts = []
        for line, (text, ids) in enumerate(zip(texts, self._encode(texts, first_row), strict=True), first_row):
            front = [self.tokenizer.eos_id] if settings.add_bos or not ids else []
            prompts.append(Prompt([*front, *ids], text, line))
        return prompts

    def _encode(self, texts: Sequence[str], first_row: int) -> list[list[int]]:
        for line, text in enumerate(texts, first_row):
            if not is_text(text):
                raise DataError(f"line {line:,} is not UTF-8 text; convert it first.")
        return self.tokenizer.encode_batch(texts)

    @property
    def _tokens_at_once(self) -> int:
        return TOKENS_AT_ONCE.get(self.device.type, TOKENS_AT_ONCE["cpu"])

    def _batches(self, prompts: Sequence[Prompt], job: GenerationJob) -> Iterator[list[int]]:
        """Yield the places of prompts of like length that are continued together."""
        if not prompts:
            return
        lengths = np.array([len(each.ids) - window_start(len(each.ids), job.window) for each in prompts], np.int64)
        said = np.full_like(lengths, job.settings.max_new_tokens)
        limit = max(1, self._tokens_at_once // job.settings.num_samples)
        yield from (rows.tolist() for rows in micro_batches(np.arange(len(prompts)), lengths, said, limit))

    def _answer(self, rows: Sequence[RunningSequence]) -> Completion:
        """Return the first continuation of a prompt, with all of them where there are several."""
        answers = [self._in_words(row) for row in rows]
        return answers[0] if len(answers) == 1 else replace(answers[0], samples=tuple(answers))

    def _in_words(self, row: RunningSequence) -> Completion:
        prompt, said = row.prompt, row.said
        text = text_behind(self.tokenizer, prompt.text, prompt.ids, said)
        if row.finish_reason == "stop" and row.writer is not None:
            text = text[: first_stop(text, row.writer.stops)]
        pieces, values = tuple(self.tokenizer.tokens(said)), tuple(row.log_probabilities)
        assert row.finish_reason is not None, "all rows are finished"
        return Completion(prompt.text, text, pieces, tuple(said), values, row.finish_reason)

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
        """Return how probable each text is, token by token, each text beginning after the end token.

        One that is longer than the model's window is read in windows, `stride` tokens apart (unset: half a window).
        `alternatives` asks for so many of the most probable tokens in the place of each; with `has_end`, the end
        token behind a text counts too; `full` scores with the model's own weights, whatever it was loaded with.
        """
        if isinstance(texts, str):
            raise ConfigError("score: one text is given where a list of them is expected; write [text].")
        end = self.tokenizer.eos_id
        behind = [end] if score_eos else []
        encoded = [[end, *ids, *behind] for ids in self._encode(texts, first_row)]
        found = self._found(encoded, stride, alternatives, full, progress)
        return [self._score(text, ids[1:], each) for text, ids, each in zip(texts, encoded, found, strict=True)]

    def _found(
        self, encoded: Sequence[Sequence[int]], stride: int | None, alternatives: int, full: bool, progress: Progress
    ) -> list[list[Found]]:
        """Return what each token but the first is given, of texts as ids."""
        windows = plan_windows([len(ids) for ids in encoded], self.reach, stride)
        if not windows:
            return [[] for _ in encoded]
        with exclusive(self.model), own_weights(self.model) if full else nullcontext():
            return text_log_probabilities(
                self.model, Sequences.of(encoded), windows, self._tokens_at_once, alternatives, progress
            )

    def weights_cost(self, texts: Sequence[str | Sequence[int]], progress: Progress = SILENT) -> WeightsCost:
        """Return what the weights this model was loaded with cost on texts, or on their ids."""
        if self.quantize == "none":
            raise ConfigError(
                "quantize: this model has its full ones, which cost nothing; load it with int8 weights."
            )
        ids = [self._encode([text], line)[0] if isinstance(text, str) else text for line, text in enumerate(texts, 1)]
        rows = [[self.tokenizer.eos_id, *each] for each in ids]
        both = [self._found(rows, None, 0, full, progress) for full in (True, False)]
        full, held = ([[value for value, _ in text] for text in found] for found in both)
        return weights_cost(full, held)

    @property
    def reach(self) -> int | None:
        """How many tokens it can make something of at once: those it takes, or those it was trained to read.

        None where all that was read is in one state, however much it is.
        """
        if self.model.max_positions is not None:
            return int(self.model.max_positions)
        attends = any(name.endswith("attention.weights") for name in probes(self.model))
        window = self.bundle.facts.get("window") if attends else None
        return None if window is None else int(window)

    def _score(self, text: str, ids: Sequence[int], found: Sequence[Found]) -> TextScore:
        best = tuple(self._next(choices) for _, choices in found if choices)
        values = tuple(value for value, _ in found)
        return TextScore(text, tuple(self.tokenizer.tokens(ids)), tuple(ids), values, best)

    def _next(self, choices: Sequence[tuple[int, float]]) -> tuple[NextToken, ...]:
        pieces = self.tokenizer.tokens([token for token, _ in choices])
        return tuple(
            NextToken(piece, token, math.exp(value)) for piece, (token, value) in zip(pieces, choices, strict=True)
        )

    def next_tokens(self, text: str, count: int = 5) -> list[tuple[NextToken, ...]]:
        """Return the most probable next tokens at every position: before each token of a text, and behind it."""
        (found,) = self.score([text], alternatives=count, score_eos=True)
        return list(found.alternatives)

    def inspect(self, text: str, probes: Sequence[str] = ("*.weights",)) -> Trace:
        """Record what the model does while it reads a text, after the end token."""
        row, tokens = self._row("inspect", text)
        return record_text(self.model, row, tokens, probes)

    def logit_lens(self, text: str, count: int = 5) -> Trace:
        """Record what each block would say behind every token if it were the last (see `inspection.record_lens`)."""
        row, tokens = self._row("logit_lens", text)
        return record_lens(self.model, row, tokens, self.tokenizer.tokens, count)

    def _row(self, name: str, text: str) -> tuple[torch.Tensor, dict[str, list[str]]]:
        """Return a text behind the end token as ids (T,), and as pieces."""
        ids = [self.tokenizer.eos_id, *self._encode([text], 1)[0]]
        bound = self.model.max_positions
        if bound is not None and len(ids) > bound:
            raise DataError(
                f"{name}: the text has {len(ids):,} tokens with the end token before it, but this model takes "
                f"{bound:,} at most; shorten it."
            )
        return torch.tensor(ids, device=self.device), {"text": self.tokenizer.tokens(ids)}
