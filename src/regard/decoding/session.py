"""Generation sessions: requests that one model works on together, a token of each a step; others may join."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import nn

from regard.cancellation import end_if_cancelled
from regard.decoding.cuda_graphs.decoder_only import build_decoder_only_stepper
from regard.decoding.cuda_graphs.encoder_decoder import build_encoder_decoder_stepper
from regard.decoding.logits.coverage import Coverage
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import BeamSearch
from regard.decoding.search.rollout import Rollout
from regard.decoding.search.running import RunningRequest
from regard.decoding.settings import GenerationSettings, MaskPredictDecoding, TranslationDecoding
from regard.decoding.steppers.interface import Request, SpecialTokens, Stepper
from regard.nn.inference.prepacked import packed
from regard.nn.inference.threads import threads_for
from regard.text.detokenizer import Detokenizer, text_after
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class GenerationJob:
    """The models (several form an ensemble), settings and tokenizer that requests are answered with."""

    models: Sequence[Any]
    ends: SpecialTokens
    settings: GenerationSettings | MaskPredictDecoding
    window: int | None = None
    """Context window of a language model in tokens (see `window_start`); None: unlimited."""
    tokenizer: Tokenizer | None = None
    """Detokenizes while tokens are generated; needed for stop strings and streams."""

    @property
    def has_prompts(self) -> bool:
        """True for language models, whose output continues the input."""
        return not hasattr(self.models[0], "encode")

    @property
    def is_stepwise(self) -> bool:
        """True where requests may join a session; mask-predict decodes the requests of a batch at once."""
        return isinstance(self.settings, GenerationSettings)

    @contextmanager
    def working(self, requests: int, tokens: int = 1) -> Iterator[None]:
        """Prepare the models for that many requests of so many tokens a step: packed weights, thread count."""
        rows = requests * tokens * self.settings.hypotheses
        with torch.inference_mode(), ExitStack() as stack:
            for model in self.models:
                module = cast(nn.Module, model)
                stack.enter_context(packed(module, self.has_prompts and rows == 1))
                stack.enter_context(threads_for(module, rows))
            yield

    def stepper(self) -> Stepper:
        """Return the stepper of an empty batch."""
        if self.has_prompts:
            settings = self.settings
            is_search = (
                isinstance(settings, GenerationSettings) and settings.method == "beam" and not settings.is_greedy
            )
            return build_decoder_only_stepper(self.models[0], self.ends.eos_id, self.window, is_search)
        return build_encoder_decoder_stepper(self.models, self.ends.bos_id)

    def detokenizer(self, request: Request) -> Detokenizer:
        """Return what writes the text of an output, up to the first stop string."""
        assert self.tokenizer is not None and isinstance(self.settings, GenerationSettings), "text is asked for"
        return Detokenizer(self.tokenizer, request.text, self._prompt(request), self.settings.stop)

    def text_of(self, request: Request, ids: Sequence[int]) -> str:
        """Return the text of an output, a stop string included."""
        assert self.tokenizer is not None, "text is asked for"
        return text_after(self.tokenizer, request.text, self._prompt(request), ids)

    def _prompt(self, request: Request) -> Sequence[int]:
        return request.ids if self.has_prompts else ()


class GenerationSession:
    """Requests under way: each call of `step` generates one token of every output that is not finished.

    Requests that are admitted between two steps share all further forward passes with those already there; theirs
    alone is the one that encodes them. One that is cancelled has left by the next step.
    """

    def __init__(self, job: GenerationJob, requests: Sequence[Request] = (), is_streamed: bool = False) -> None:
        self.job, self._queue = job, list[RunningRequest]()
        self.running: list[RunningRequest] = []
        """The requests that are not done, those still waiting included."""
        settings = job.settings
        assert isinstance(settings, GenerationSettings), "mask-predict has no steps that requests could join"
        processor = LogitsProcessor(settings, job.ends, job.models[0].head.weight)
        self._search: BeamSearch | Rollout
        coverage: Callable[[], Coverage] | None = None
        if isinstance(settings, TranslationDecoding) and settings.coverage_penalty:
            coverage = partial(Coverage, job.models, settings.coverage_penalty)
        if settings.method == "beam" and (settings.beam_size > 1 or coverage is not None):
            text_of = job.text_of if settings.stop else None
            self._search = BeamSearch(job.stepper, processor, text_of, coverage)
        else:
            self._search = Rollout(job.stepper, processor, job.detokenizer if settings.stop else None)
        self.admit(requests, is_streamed)

    @property
    def is_done(self) -> bool:
        """True once all requests are done."""
        return not self.running

    def admit(self, requests: Sequence[Request], is_streamed: bool = False) -> list[RunningRequest]:
        """Add requests, which get their first token at the next step; `chunk` has the new text of streamed ones."""
        admitted = [RunningRequest(each) for each in requests]
        for each in admitted if is_streamed else ():
            each.detokenizer = self.job.detokenizer(each.request)
        self._queue += admitted
        self.running += admitted
        return admitted

    @torch.inference_mode()
    def cancel(self, running: RunningRequest) -> None:
        """Drop a request between two steps; it is never done then."""
        if running in self._queue:
            self._queue.remove(running)
        elif not running.is_done:
            self._search.cancel(running)
        self.running = [each for each in self.running if each is not running]

    def step(self) -> None:
        """Generate one token of each output that is not finished."""
        end_if_cancelled()
        for each in self.running:
            each.chunk = ""
        queue, self._queue = self._queue, []
        if queue or not self._search.is_idle:
            self._search.step(queue)
        if any(each.is_done for each in self.running):
            self.running = [each for each in self.running if not each.is_done]
