"""Loss by position in the context window, and gradients by distance, of a language model."""

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from regard.data.corpus.corpus import Corpus, Ids
from regard.decoding.scoring import label_scores
from regard.runs.run import Run
from regard.studies.race.figures.gradient_reach import FEWEST, Curve, curve, embedded
from regard.tasks.data import EvalSet
from regard.tasks.load import load
from regard.tasks.text.corpora import text_report

WINDOWS = 64
"""Windows of the held-out text whose losses are computed by position."""
FOLLOWED, POSITIONS = 16, 4
"""Windows, and positions in the second half of each, whose loss is differentiated."""
LONGEST = 128
"""Maximum distance of a gradient in tokens."""
WIDTH = 4
"""Distances per point of the curve."""


def measure_text(run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
    """Return the measurements on the best checkpoint of a run."""
    generator = load(run.best, device)
    window = text_report(run.record).window
    rows = _windows(getattr(held_out.rows, "stream", held_out.rows), generator.tokenizer.eos_id, window)
    return {
        "positions": _by_position(generator.model, rows, generator.device),
        "reach": _reach(generator.model, rows[:FOLLOWED], generator.device),
    }


def _windows(corpus: Corpus, start: int, length: int) -> Ids:
    """Return evenly spaced windows (B, T + 1) of a text; a shorter text is one window."""
    if len(corpus) <= length:
        return np.concatenate([[start], corpus.read(0, len(corpus))])[None]
    starts = np.unique(np.linspace(0, len(corpus) - length - 1, WINDOWS).astype(int))
    return np.stack([corpus.read(first, first + length + 1) for first in starts.tolist()])


@torch.inference_mode()
def _by_position(model: Any, rows: Ids, device: torch.device) -> list[dict[str, float]]:
    """Return the mean loss of tokens with 1, 2 to 3, 4 to 7 ... tokens of context in their window."""
    model.eval()
    tokens = torch.from_numpy(rows).to(device)
    length = tokens.size(1) - 1
    losses = torch.zeros(length, dtype=torch.float64)
    for row in tokens:
        everywhere = torch.arange(length, device=device)
        losses -= label_scores(model, row[None, :-1], everywhere, row[1:]).log_probabilities.double().cpu()
    means, groups, first = losses / len(tokens), [], 1
    while first <= length:
        last = 2 * first - 1
        last = length if length - last < first else last  # the remainder joins the last group
        groups.append({"shortest": first, "longest": last, "loss": float(means[first - 1 : last].mean())})
        first = last + 1
    return groups


def _reach(model: Any, rows: Ids, device: torch.device) -> dict[str, Curve | None]:
    """Return distances and the mean gradient norm there, relative to the mean norm of the window."""
    groups: dict[int, list[float]] = defaultdict(list)
    model.eval()
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():  # no backward in eval mode otherwise
        for row in rows[:, -LONGEST - 1 :]:
            tokens = torch.from_numpy(row).to(device)[None]
            with embedded(model, tokens[:, :-1]) as leaves:
                hidden = model.hidden_states(tokens[:, :-1])[0]
            if not leaves:
                return {"text": None}
            losses = F.cross_entropy(model.project(hidden).float(), tokens[0, 1:], reduction="none")
            last = len(losses) - 1
            for position in np.unique(np.linspace(last / 2, last, POSITIONS).astype(int)).tolist():
                (gradient,) = torch.autograd.grad(losses[position], leaves[:1], retain_graph=True)
                norms = gradient[0, : position + 1].float().norm(dim=-1)
                mean = float(norms.mean())
                if mean > 0 and np.isfinite(mean):
                    for distance, ratio in enumerate((norms.flip(0) / mean).tolist(), start=1):
                        groups[distance // WIDTH].append(ratio)
    model.zero_grad(set_to_none=True)
    return {"text": curve(groups, WIDTH, min(FEWEST, len(rows)))}
