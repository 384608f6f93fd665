"""Texts continued token by token, several prompts and several continuations of each at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn

from regard.decoding.cuda_graphs.decoder_only import build_reader
from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.steppers.decoder_only import window_start
from regard.decoding.steppers.interface import SpecialTokens
from regard.decoding.steppers.requests import Prompt, RunningSequence
from regard.decoding.text_settings import GenerateSettings
from regard.errors import DataError
from regard.models.base.protocols import CausalLM
from regard.nn.inference.memory import is_out_of_memory, release_memory
from regard.nn.inference.prepacked import packed
from regard.nn.inference.threads import threads_for
from regard.text.detokenizer import Detokenizer
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class GenerationJob:
    """How prompts are continued, and by what."""

    model: CausalLM
    ends: SpecialTokens
    settings: GenerateSettings
    window: int | None = None
    """Tokens that are looked back on at most (see `window_start`)."""
    tokenizer: Tokenizer | None = None
    """Writes the text while it is said; needed for texts to stop at."""

    @contextmanager
    def working(self, prompts: int) -> Iterator[None]:
        """Prepare the model, for the length of a block, for that many prompts."""
        module, rows = cast(nn.Module, self.model), prompts * self.settings.num_samples
        with torch.inference_mode(), packed(module, rows == 1), threads_for(module, rows):
            yield


class GenerationSession:
    """Prompts being continued: each call of `step` says one more token of every row that is not finished.

    The rows of a prompt share what was read of it while that is longer than all they can say: they are hypotheses of
    one text. Otherwise each is a text of its own, which sees no slots of the others.
    """

    def __init__(self, job: GenerationJob, prompts: Sequence[Prompt]) -> None:
        self.job, self.prompts = job, prompts
        self.rows = [self._row(prompt, sample) for prompt in prompts for sample in range(job.settings.num_samples)]
        """The continuations of each prompt side by side, in the order of the prompts."""
        self._reader = build_reader(job.model, job.ends.eos_id)
        self._choose = TokenSampler(job.settings, job.ends, job.model.head.weight)
        self._under_way = list(self.rows)  # in the order of the model's rows; some may be done, and wait for others
        self._hypotheses = 1
        self._taken = 0

    def _row(self, prompt: Prompt, sample: int) -> RunningSequence:
        job = self.job
        writer = None
        if job.tokenizer is not None:
            writer = Detokenizer(job.tokenizer, prompt.text, prompt.ids, job.settings.stop)
        return RunningSequence(prompt, sample, list(prompt.ids), writer)

    @property
    def is_done(self) -> bool:
        """Whether all rows are finished."""
        return all(row.finish_reason for row in self.rows)

    def step(self) -> None:
        """Say one more token of each row."""
        logits = self._go_on() if self._taken else self._begin()
        found = self._choose(logits, self._under_way, self._taken)
        self._taken += 1
        for row, (token, log_probability) in zip(self._under_way, found, strict=True):
            if row.finish_reason is None:
                self._note(row, token, log_probability)

    def _begin(self) -> torch.Tensor:
        """Read the prompts, and let their rows go their own ways from there."""
        logits = self._reader.begin([self._seen(prompt.ids) for prompt in self.prompts])
        count, settings = self.job.settings.num_samples, self.job.settings
        if count == 1:
            return logits
        texts = [number for number in range(len(self.prompts)) for _ in range(count)]
        is_shared = count * settings.max_new_tokens <= min(len(self._seen(prompt.ids)) for prompt in self.prompts)
        self._hypotheses = count if is_shared else 1
        self._reader.select(texts, None if is_shared else texts)
        return logits.repeat_interleave(count, 0)

    def _seen(self, ids: Sequence[int]) -> Sequence[int]:
        """Return what is looked back on of a text."""
        return ids[window_start(len(ids), self.job.window) :]

    def _go_on(self) -> torch.Tensor:
        """Read what was said last; where a window moves, all are read anew, each a text of its own."""
        lengths = {len(row.ids) for row in self._under_way if row.finish_reason is None}
        window = self.job.window
        if any(window_start(length, window) != window_start(length - 1, window) for length in lengths):
            self._under_way = [row for row in self._under_way if row.finish_reason is None]
            self._hypotheses = 1
            return self._reader.begin([self._seen(row.ids) for row in self._under_way])
        self._leave()
        return self._reader.step([row.ids[-1] for row in self._under_way])

    def _leave(self) -> None:
        """Drop finished rows, as far as each text keeps the same number of hypotheses, and texts without others."""
        if all(row.finish_reason is None for row in self._under_way):
            return
        count = self._hypotheses
        texts = [range(begin, begin + count) for begin in range(0, len(self._under_way), count)]
        running = [[place for place in text if not self._under_way[place].finish_reason] for text in texts]
        most = max(map(len, running))
        staying = [number for number, each in enumerate(running) if each]
        places: list[int] = []
        for number in staying:
            done = [place for place in texts[number] if place not in running[number]]
            places += [*running[number], *done][:most]
        if len(places) == len(self._under_way):
            return
        self._reader.select(places, staying if len(staying) < len(texts) else None)
        self._under_way = [self._under_way[place] for place in places]
        self._hypotheses = most

    def _note(self, row: RunningSequence, token: int, log_probability: float) -> None:
        """Write down what was said."""
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
    release_memory(job.model.head.weight.device)  # outside the handler, which would keep alive what the attempt held
    if len(prompts) == 1:
        raise DataError(
            f"Memory runs out on a single prompt of {len(prompts[0].ids):,} tokens with {job.settings.num_samples} "
            f"continuations of up to {job.settings.max_new_tokens:,}; ask for fewer, or set a smaller context_window."
        )
    half = len(prompts) // 2
    return [*continue_prompts(job, prompts[:half]), *continue_prompts(job, prompts[half:])]


def _continue_together(job: GenerationJob, prompts: Sequence[Prompt]) -> list[list[RunningSequence]]:
    with job.working(len(prompts)):
        continuing = GenerationSession(job, prompts)
        while not continuing.is_done:
            continuing.step()
    rows, count = continuing.rows, job.settings.num_samples
    return [rows[begin : begin + count] for begin in range(0, len(rows), count)]
