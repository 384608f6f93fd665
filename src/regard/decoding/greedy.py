"""Greedy decoding: the most probable token at each step."""

import torch
from torch import Tensor

from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.stepper import Ends, Hypothesis, Stepper
from regard.models import SequenceToSequence


@torch.inference_mode()
def greedy(
    model: SequenceToSequence, source: Tensor, real: Tensor, ends: Ends, settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Return the one hypothesis of each source (B, S), in a list of its own."""
    limits = [settings.max_length(length, model.max_positions) for length in real.sum(1).tolist()]
    stepper = Stepper(model, model.encode(source, real), ends.never, source.device)
    outputs: list[list[int]] = [[] for _ in limits]
    sums = [0.0] * len(limits)
    alive = list(range(len(limits)))
    tokens = source.new_full((len(alive),), ends.start)
    for length in range(1, max(limits, default=0) + 1):
        values, tokens = stepper.step(tokens).max(-1)
        staying = []
        for row, (sentence, value, token) in enumerate(zip(alive, values.tolist(), tokens.tolist(), strict=True)):
            sums[sentence] += value
            if token != ends.end:
                outputs[sentence].append(token)
                if length < limits[sentence]:
                    staying.append(row)
        if not staying:
            break
        if len(staying) < len(alive):  # finished sentences leave the batch
            rows = torch.tensor(staying, device=source.device)
            stepper.keep_hypotheses(rows)
            stepper.keep_sentences(rows)
            tokens, alive = tokens[rows], [alive[row] for row in staying]
    return [
        [Hypothesis(ids, total, total / length_penalty(settings, min(len(ids) + 1, limit)), len(ids) < limit)]
        for ids, total, limit in zip(outputs, sums, limits, strict=True)
    ]
