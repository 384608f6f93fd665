"""Greedy search and ancestral sampling: one hypothesis a row, extended token by token."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.logits.counter_uniforms import counter_uniforms, sample_tokens
from regard.decoding.logits.filters import warp_logits
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import length_penalty
from regard.decoding.steppers.interface import Hypothesis, Stepper

Choose = Callable[[Tensor, NDArray[np.int64], int], Tensor]
"""Maps log probabilities (R, V), the rows' numbers in the initial batch and the step to a token a row (R,)."""


def greedy(stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor) -> list[list[Hypothesis]]:
    """Return the greedy hypothesis of each sentence, as a list of one: the most probable token at each step."""

    def most_probable(log_p: Tensor, numbers: NDArray[np.int64], step: int) -> Tensor:
        return log_p.argmax(1)

    return [[hypothesis] for hypothesis in rollout(stepper, limits, constraints, most_probable)]


def sample(
    stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor, lines: Sequence[int]
) -> list[list[Hypothesis]]:
    """Return `num_samples` sampled hypotheses of each sentence, best first.

    A sampled token depends on the seed, the sentence's line number, the sample's number and the step, not on the
    rest of the batch.
    """
    settings = constraints.settings
    count = settings.num_samples
    device = constraints.device
    sentences = np.repeat(np.arange(len(limits)), count)
    if count > 1:  # every sample is a row of its own, and ends by itself
        rows = torch.from_numpy(sentences).to(device)
        stepper.reorder(rows, rows)
    owners = np.repeat(np.asarray(lines, np.int64), count)
    samples = np.tile(np.arange(count), len(limits))

    def sampled(log_p: Tensor, numbers: NDArray[np.int64], step: int) -> Tensor:
        uniforms = counter_uniforms(settings.seed, owners[numbers], samples[numbers], step)
        return sample_tokens(warp_logits(log_p, settings), torch.from_numpy(uniforms).to(device))

    hypotheses = rollout(stepper, np.repeat(limits, count).tolist(), constraints, sampled, sentences)
    by_sentence = [hypotheses[first : first + count] for first in range(0, len(hypotheses), count)]
    return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in by_sentence]


def rollout(
    stepper: Stepper,
    limits: Sequence[int],
    constraints: LogitsProcessor,
    choose: Choose,
    sentences: NDArray[np.int64] | None = None,
) -> list[Hypothesis]:
    """Return one hypothesis a row, row i for sentence sentences[i]; finished rows leave the batch."""
    settings, end = constraints.settings, constraints.ends.eos_id
    bounds = np.asarray(limits, np.int64)
    numbers = np.arange(len(bounds))  # of the unfinished rows, in the initial batch
    sentences = numbers if sentences is None else sentences
    past = np.zeros((len(bounds), 0), np.int64)
    totals = np.zeros((2, len(bounds)))  # with penalties, and without
    hypotheses: list[Hypothesis | None] = [None] * len(bounds)
    tokens = torch.full((len(bounds),), constraints.ends.bos_id, device=constraints.device)
    step = 0
    while len(numbers):
        log_p = stepper.step(tokens).log_softmax(-1)  # (R, V)
        allowed = constraints(log_p, past, sentences[numbers])
        tokens = choose(allowed, numbers, step)
        values = torch.stack([each.gather(1, tokens[:, None])[:, 0] for each in (allowed, log_p)])
        arrived = torch.cat((values.double(), tokens.double()[None])).cpu().numpy()  # the only device synchronization
        totals += arrived[:2]
        chosen = arrived[2].astype(np.int64)
        step += 1
        is_end = chosen == end
        is_done = is_end | (step >= bounds[numbers])
        past = np.concatenate((past, chosen[:, None]), axis=1)
        for row in np.flatnonzero(is_done):
            ids = past[row, : step - is_end[row]].tolist()
            score = float(totals[0, row]) / length_penalty(settings, step)
            hypotheses[numbers[row]] = Hypothesis(ids, float(totals[1, row]), score, bool(is_end[row]))
        if is_done.any():  # finished sentences leave the batch
            staying = np.flatnonzero(~is_done)
            numbers, past, totals = numbers[staying], past[staying], totals[:, staying]
            if len(staying):
                rows = torch.from_numpy(staying).to(constraints.device)
                stepper.reorder(rows, rows)
                tokens = tokens[rows]
    return [each for each in hypotheses if each is not None]
