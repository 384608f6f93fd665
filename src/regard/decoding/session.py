"""Batched generation with a causal language model: several prompts, several samples of each, a token a step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn

from regard.decoding.cuda_graphs.decoder_only import build_decoder_only_stepper
from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.settings import GenerateSettings
from regard.decoding.steppers.decoder_only import window_start
from regard.decoding.steppers.interface import SpecialTokens
from regard.decoding.steppers.requests import Prompt, RunningSequence
from regard.errors import DataError
from regard.models.base.protocols import CausalLM
from regard.nn.inference.memory import is_out_of_memory, release_memory
from regard.nn.inference.prepacked import packed
from regard.nn.inference.threads import threads_for
from regard.text.detokenizer import Detokenizer
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class GenerationJob:
    """The model, settings and tokenizer that a batch of prompts is continued with."""

    model: CausalLM
    ends: SpecialTokens
    settings: GenerateSettings
    window: int | None = None
    """Context window in tokens (see `window_start`); None: unlimited."""
    tokenizer: Tokenizer | None = None
    """Detokenizes while tokens are generated; needed for stop strings."""

    @contextmanager
    def working(self, prompts: int) -> Iterator[None]:
        """Prepare the model for that many prompts while the context is open: packed weights, thread count."""
        module, rows = cast(nn.Module, self.model), prompts * self.settings.num_samples
        with torch.inference_mode(), packed(module, rows == 1), threads_for(module, rows):
            yield


class GenerationSession:
    """Prompts being continued: each call of `step` generates one token of every row that is not finished.

    The samples of a prompt share its key-value cache, as hypotheses of one text, while the prompt is longer than all
    of their new tokens together. Otherwise each is a text of its own, without cache slots for the others.
    """

    def __init__(self, job: GenerationJob, prompts: Sequence[Prompt]) -> None:
        self.job, self.prompts = job, prompts
        self.rows = [self._row(prompt, sample) for prompt in prompts for sample in range(job.settings.num_samples)]
        """The samples of each prompt side by side, in the order of the prompts."""
        self._stepper = build_decoder_only_stepper(job.model, job.ends.eos_id)
        self._sampler = TokenSampler(job.settings, job.ends, job.model.head.weight)
        self._active = list(self.rows)  # in the order of the model's rows; finished ones may wait for others to leave
        self._hypotheses = 1
        self._steps = 0

    def _row(self, prompt: Prompt, sample: int) -> RunningSequence:
        job = self.job
        detokenizer = None
        if job.tokenizer is not None:
            detokenizer = Detokenizer(job.tokenizer, prompt.text, prompt.ids, job.settings.stop)
        return RunningSequence(prompt, sample, list(prompt.ids), detokenizer)

    @property
    def is_done(self) -> bool:
        """True once all rows are finished."""
        return all(row.finish_reason for row in self.rows)

    def step(self) -> None:
        """Generate one token of each unfinished row."""
        logits = self._advance() if self._steps else self._prefill()
        choices = self._sampler(logits, self._active, self._steps)
        self._steps += 1
        for row, (token, log_probability) in zip(self._active, choices, strict=True):
            if row.finish_reason is None:
                self._append(row, token, log_probability)

    def _prefill(self) -> torch.Tensor:
        """Return the logits (R, V) after the prompts, one row for each sample."""
        logits = self._stepper.begin([self._window(prompt.ids) for prompt in self.prompts])
        count, settings = self.job.settings.num_samples, self.job.settings
        if count == 1:
            return logits
        texts = [number for number in range(len(self.prompts)) for _ in range(count)]
        is_shared = count * settings.max_new_tokens <= min(len(self._window(prompt.ids)) for prompt in self.prompts)
        self._hypotheses = count if is_shared else 1
        self._stepper.select(texts, None if is_shared else texts)
        return logits.repeat_interleave(count, 0)

    def _window(self, ids: Sequence[int]) -> Sequence[int]:
        """Return the ids inside the context window."""
        return ids[window_start(len(ids), self.job.window) :]

    def _advance(self) -> torch.Tensor:
        """Return the logits (R, V) after the newest tokens; where the window moves, all rows are prefilled anew."""
        lengths = {len(row.ids) for row in self._active if row.finish_reason is None}
        window = self.job.window
        if any(window_start(length, window) != window_start(length - 1, window) for length in lengths):
            self._active = [row for row in self._active if row.finish_reason is None]
            self._hypotheses = 1
            return self._stepper.begin([self._window(row.ids) for row in self._active])
        self._drop_finished()
        return self._stepper.step([row.ids[-1] for row in self._active])

    def _drop_finished(self) -> None:
        """Drop finished texts, and finished rows as far as every text keeps the same number of hypotheses."""
        if all(row.finish_reason is None for row in self._active):
            return
        count = self._hypotheses
        texts = [range(begin, begin + count) for begin in range(0, len(self._active), count)]
        running = [[row for row in text if not self._active[row].finish_reason] for text in texts]
        most = max(map(len, running))
        staying = [number for number, each in enumerate(running) if each]
        kept: list[int] = []
        for number in staying:
            done = [row for row in texts[number] if row not in running[number]]
            kept += [*running[number], *done][:most]
        if len(kept) == len(self._active):
            return
        self._stepper.select(kept, staying if len(staying) < len(texts) else None)
        self._active = [self._active[row] for row in kept]
        self._hypotheses = most

    def _append(self, row: RunningSequence, token: int, log_probability: float) -> None:
        """Append a token to a row, and set its finish reason."""
        row.ids.append(token)
        row.log_probabilities.append(log_probability)
        row.piece = ""
        if token == self.job.ends.eos_id:
            row.finish_reason = "eos"
        elif row.writer is not None:
            row.piece = row.writer.write(token)
            row.finish_reason = "stop" if row.writer.is_stopped else None
        if row.finish_reason is None and len(row.log_probabilities) == self.job.settings.max_new_tokens:
            row.finish_reason = "length"
        if row.finish_reason and row.writer is not None:
            row.piece += row.writer.close()


def continue_prompts(job: GenerationJob, prompts: Sequence[Prompt]) -> list[list[RunningSequence]]:
    """Return the continuations of each prompt; where memory runs out, fewer prompts are continued together."""
    try:
        return _continue_together(job, prompts)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # Outside the handler, whose traceback would keep the failed attempt's tensors alive.
    release_memory(job.model.head.weight.device)
    if len(prompts) == 1:
        raise DataError(
            f"Out of memory on a single prompt of {len(prompts[0].ids):,} tokens with {job.settings.num_samples} "
            f"samples of up to {job.settings.max_new_tokens:,} new tokens; use fewer, or a smaller context_window."
        )
    half = len(prompts) // 2
    return [*continue_prompts(job, prompts[:half]), *continue_prompts(job, prompts[half:])]


def _continue_together(job: GenerationJob, prompts: Sequence[Prompt]) -> list[list[RunningSequence]]:
    with job.working(len(prompts)):
        session = GenerationSession(job, prompts)
        while not session.is_done:
            session.step()
    rows, count = session.rows, job.settings.num_samples
    return [rows[begin : begin + count] for begin in range(0, len(rows), count)]
