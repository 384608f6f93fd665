"""One hypothesis a row, token by token: greedy decoding and sampling, which differ only in how a token is chosen."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.decoding.logits.counter_uniforms import counter_uniforms, draw
from regard.decoding.logits.filters import keep_top_k, keep_top_p
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import length_penalty
from regard.decoding.steppers.interface import Hypothesis, Stepper

Choose = Callable[[Tensor, NDArray[np.int64], int], Tensor]
"""From log probabilities (R, V), the rows' places in the beginning, and the step, to one token a row (R,)."""


def greedy(stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor) -> list[list[Hypothesis]]:
    """Return the one hypothesis of each sentence, in a list of its own: the most probable token at each step."""

    def most_probable(log_p: Tensor, places: NDArray[np.int64], step: int) -> Tensor:
        return log_p.argmax(1)

    return [[found] for found in rollout(stepper, limits, constraints, most_probable)]


def sample(
    stepper: Stepper, limits: Sequence[int], constraints: LogitsProcessor, lines: Sequence[int]
) -> list[list[Hypothesis]]:
    """Return `samples` hypotheses of each sentence, best first, drawn token by token.

    A draw follows from the seed, the sentence's own line number, the sample's number and the step: neighbors in
    the batch have no part in it.
    """
    settings = constraints.settings
    count = settings.num_samples
    device = constraints.device
    sentences = np.repeat(np.arange(len(limits)), count)
    if count > 1:  # each sample goes its own way and ends by itself: a row of its own
        rows = torch.from_numpy(sentences).to(device)
        stepper.reorder(rows, rows)
    owners = np.repeat(np.asarray(lines, np.int64), count)
    numbers = np.tile(np.arange(count), len(limits))

    def drawn(log_p: Tensor, places: NDArray[np.int64], step: int) -> Tensor:
        chances = torch.from_numpy(counter_uniforms(settings.seed, owners[places], numbers[places], step)).to(device)
        return draw(warp_logits(log_p, settings), chances)

    found = rollout(stepper, np.repeat(limits, count).tolist(), constraints, drawn, sentences)
    by_sentence = [found[place : place + count] for place in range(0, len(found), count)]
    return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in by_sentence]


class SamplingParams(Protocol):
    """The settings a draw is narrowed by."""

    @property
    def temperature(self) -> float:
        """What log probabilities are divided by."""

    @property
    def top_k(self) -> int | None:
        """How many of the most probable tokens stay."""

    @property
    def top_p(self) -> float | None:
        """The share of the probability that the tokens that stay hold."""


def warp_logits(log_p: Tensor, settings: SamplingParams) -> Tensor:
    """Return what is drawn from: log probabilities over the temperature, and only the top of them."""
    if settings.temperature != 1:
        log_p = log_p / settings.temperature
    if settings.top_k is not None:
        log_p = keep_top_k(log_p, settings.top_k)
    return log_p if settings.top_p is None else keep_top_p(log_p, settings.top_p)


def rollout(
    stepper: Stepper,
    limits: Sequence[int],
    constraints: LogitsProcessor,
    choose: Choose,
    sentences: NDArray[np.int64] | None = None,
) -> list[Hypothesis]:
    """Return one hypothesis a row; rows that end leave the batch. Row i belongs to sentence sentences[i]."""
    settings, end = constraints.settings, constraints.ends.eos_id
    bounds = np.asarray(limits, np.int64)
    places = np.arange(len(bounds))  # of the rows that are not done
    sentences = places if sentences is None else sentences
    past = np.zeros((len(bounds), 0), np.int64)
    totals = np.zeros((2, len(bounds)))  # with penalties, and as the model has it
    found: list[Hypothesis | None] = [None] * len(bounds)
    tokens = torch.full((len(bounds),), constraints.ends.bos_id, device=constraints.device)
    step = 0
    while len(places):
        log_p = stepper.step(tokens).log_softmax(-1)  # (R, V)
        allowed = constraints(log_p, past, sentences[places])
        tokens = choose(allowed, places, step)
        values = torch.stack([each.gather(1, tokens[:, None])[:, 0] for each in (allowed, log_p)])
        arrived = torch.cat((values.double(), tokens.double()[None])).cpu().numpy()  # the one wait for the device
        totals += arrived[:2]
        said = arrived[2].astype(np.int64)
        step += 1
        is_end = said == end
        is_done = is_end | (step >= bounds[places])
        past = np.concatenate((past, said[:, None]), axis=1)
        for row in np.flatnonzero(is_done):
            ids = past[row, : step - is_end[row]].tolist()
            score = float(totals[0, row]) / length_penalty(settings, step)
            found[places[row]] = Hypothesis(ids, float(totals[1, row]), score, bool(is_end[row]))
        if is_done.any():  # finished sentences leave the batch
            staying = np.flatnonzero(~is_done)
            places, past, totals = places[staying], past[staying], totals[:, staying]
            if len(staying):
                rows = torch.from_numpy(staying).to(constraints.device)
                stepper.reorder(rows, rows)
                tokens = tokens[rows]
    return [each for each in found if each is not None]
