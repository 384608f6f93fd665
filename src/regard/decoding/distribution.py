"""Generation token by token with the distribution at each step, before and after everything that acts on it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.cancellation import end_if_cancelled
from regard.decoding.logits.filters import keep_min_p, keep_top_k, keep_top_p
from regard.decoding.logits.history import History
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.session import GenerationJob
from regard.decoding.settings import GenerationSettings
from regard.decoding.steppers.interface import Request

STAGES = ("model", "constraints", "temperature", "top_k", "top_p", "min_p")
"""model: softmax of the logits; constraints: suppressed tokens, repetition penalty, n-grams; then filters."""


@dataclass(frozen=True)
class GeneratedToken:
    """A generated token, and the distributions (V,) it was chosen from, by stage."""

    id: int
    probability: float
    """Under the model, before everything that acts on the distribution."""
    stages: dict[str, Tensor]
    is_last: bool


def stages_of(log_p: Tensor, allowed: Tensor, settings: GenerationSettings) -> dict[str, Tensor]:
    """Return the distribution (V,) after each stage, for log probabilities (V,) before and after constraints."""
    stages = {"model": log_p.softmax(-1), "constraints": allowed.softmax(-1)}
    if settings.method == "beam" or settings.temperature == 0:
        return stages
    row = allowed[None] / settings.temperature
    stages["temperature"] = row[0].softmax(-1)
    if settings.top_k is not None:
        row = keep_top_k(row, settings.top_k)
        stages["top_k"] = row[0].softmax(-1)
    if settings.top_p is not None:
        row = keep_top_p(row, settings.top_p)
        stages["top_p"] = row[0].softmax(-1)
    if settings.min_p is not None:
        row = keep_min_p(row, settings.min_p)
        stages["min_p"] = row[0].softmax(-1)
    return stages


def generate_steps(job: GenerationJob, request: Request) -> Iterator[GeneratedToken]:
    """Yield the tokens of one output as they are generated: those of `generate` for one sample or greedy search."""
    settings = job.settings
    assert isinstance(settings, GenerationSettings) and settings.hypotheses == 1, "one hypothesis, token by token"
    processor = LogitsProcessor(settings, job.ends, job.models[0].head.weight)
    sampler, stepper, eos_id = TokenSampler(settings), job.stepper(), job.ends.eos_id
    history = History(eos_id, stepper.has_prompts)
    writer = job.detokenizer(request) if settings.stop else None
    line, sample = np.array([request.line], np.int64), np.zeros(1, np.int64)
    token: Tensor | None = None
    is_last = False
    while not is_last:
        end_if_cancelled()
        with job.working(1):
            if token is None:
                logits = stepper.admit([request])
                history.admit([request], 1)
            else:
                logits = stepper.step(token)
            before = logits.log_softmax(-1)  # (1, V)
            allowed = processor(before.clone(), history)
            token = sampler(allowed, line, sample, history.lengths)
        chosen = int(token)
        history.append(np.array([chosen], np.int64), np.array([float(before[0, chosen])]))
        if writer is not None and chosen != eos_id:
            writer.write(chosen)
        is_stopped = writer is not None and writer.is_stopped
        is_last = chosen == eos_id or is_stopped or len(history.ids(0)) >= request.limit
        probability = float(before[0, chosen].exp())
        yield GeneratedToken(chosen, probability, stages_of(before[0], allowed[0], settings), is_last)


def next_distribution(job: GenerationJob, request: Request, ids: list[int]) -> Tensor:
    """Return the model's distribution (V,) of the token that follows some output ids."""
    stepper = job.stepper()
    with job.working(1):
        logits = stepper.admit([request])
        for each in ids:
            logits = stepper.step(torch.tensor([each], device=logits.device))
        return logits[0].softmax(-1)
