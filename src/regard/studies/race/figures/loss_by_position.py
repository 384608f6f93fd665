"""Races of language models: the text they share, and what is measured on each of them."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus, Ids
from regard.data.corpus.splits import tokenize_all
from regard.data.sources.pair import Pair
from regard.decoding.text_scoring import label_scores
from regard.models.base.protocols import Vocabularies
from regard.models.families import build_model
from regard.progress import SILENT, Progress
from regard.runs.store.folder import Run
from regard.studies.doctor.trial import TrialSetup
from regard.studies.race.figures.gradient_reach import FEWEST, Curve, curve, embedded
from regard.tasks.data import Prepared
from regard.tasks.language_model.evaluate import USUAL_WINDOW
from regard.tasks.language_model.prepare import corpus_folder, prepare_language
from regard.tasks.load import load_generator
from regard.tasks.translate.data import Plain
from regard.training.device.machine import Machine, prepare_machine

WINDOWS = 64
"""Windows of the held-out text in which losses are looked at one by one."""
FOLLOWED, POSITIONS = 16, 4
"""Windows, and tokens in the second half of each, whose loss is followed back."""
LONGEST = 128
"""Tokens that it is followed back through at most."""
WIDTH = 4
"""Tokens of distance that make one point."""


class SharedText:
    """Text that every member learns from: all of them read it in the same way, so it is tokenized once."""

    def __init__(self, settings: Any, progress: Progress = SILENT) -> None:
        self.settings, self.progress = settings, progress

    @cached_property
    def _facts(self) -> tuple[dict[str, Any], Bundle]:
        """What was read, looked over once for all."""
        found = prepare_language(self.settings, prepare_machine(self.settings.machine), self.progress)
        return found.facts, found.bundle

    @property
    def tokens(self) -> int:
        """How many tokens an epoch learns from."""
        return int(self._facts[0]["train"]["tokens"])

    @property
    def held_out(self) -> Corpus:
        """The first test set, or the validation set where there is none."""
        tokenizer = self._facts[1].tokenizers["tokenizer"]
        corpora = tokenize_all(self.settings.data, tokenizer, corpus_folder(self.settings))
        return next(iter(corpora.test.values()), corpora.valid)

    def prepare(
        self,
        settings: Any,
        machine: Machine,
        progress: Progress = SILENT,
        resumed: Bundle | None = None,
        given: Sequence[Pair] | None = None,
    ) -> Prepared:
        """Make a member ready; what there is to say about the text is said once."""
        assert self._facts, "looked over"
        return prepare_language(settings, machine, SILENT, resumed, given)

    def bench(self, settings: Any) -> TrialSetup:
        """Return all it takes to try a member out."""
        machine = prepare_machine(settings.machine)
        return TrialSetup(Plain(settings), self.prepare(settings, machine), machine)


def common_window(members: Sequence[Any]) -> dict[str, int]:
    """Return the longest window that every member can read: all are to learn from the same ones."""
    windows = []
    for settings in members:
        with torch.device("meta"):
            model: Any = build_model(settings.model, Vocabularies(8, 8, is_shared=True))
        bound = model.max_positions
        windows.append(min(settings.window or bound or USUAL_WINDOW, bound or settings.window or USUAL_WINDOW))
    return {"window": min(windows)}


def measure_text(run: Run, held_out: Corpus, device: str) -> dict[str, Any]:
    """Return what only a look into the model itself can tell, beside the scores of its run."""
    generator = load_generator(run.best, device)
    window = int(run.data["window"])
    rows = _windows(held_out, generator.tokenizer.eos_id, window)
    return {
        "positions": _by_position(generator.model, rows, generator.device),
        "reach": _reach(generator.model, rows[:FOLLOWED], generator.device),
    }


def _windows(corpus: Corpus, start: int, length: int) -> Ids:
    """Return some windows (B, T + 1) from all over a text, side by side; the whole of one that is shorter."""
    if len(corpus) <= length:
        return np.concatenate([[start], corpus.read(0, len(corpus))])[None]
    places = np.unique(np.linspace(0, len(corpus) - length - 1, WINDOWS).astype(int))
    return np.stack([corpus.read(place, place + length + 1) for place in places.tolist()])


@torch.inference_mode()
def _by_position(model: Any, rows: Ids, device: torch.device) -> list[dict[str, float]]:
    """Return the mean loss of tokens with 1, 2 to 3, 4 to 7 ... tokens before them in their window."""
    model.eval()
    tokens = torch.from_numpy(rows).to(device)
    length = tokens.size(1) - 1
    losses = torch.zeros(length, dtype=torch.float64)
    for row in tokens:
        everywhere = torch.arange(length, device=device)
        losses -= label_scores(model, row[None, :-1], everywhere, row[1:]).log_probabilities.double().cpu()
    means, found, first = losses / len(tokens), [], 1
    while first <= length:
        last = 2 * first - 1
        last = length if length - last < first else last  # a few more are no group of their own
        found.append({"shortest": first, "longest": last, "loss": float(means[first - 1 : last].mean())})
        first = last + 1
    return found


def _reach(model: Any, rows: Ids, device: torch.device) -> dict[str, Curve | None]:
    """Return distances and the mean gradient norm there, over that of an average token of what was read."""
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
            for place in np.unique(np.linspace(last / 2, last, POSITIONS).astype(int)).tolist():
                (gradient,) = torch.autograd.grad(losses[place], leaves[:1], retain_graph=True)
                norms = gradient[0, : place + 1].float().norm(dim=-1)
                mean = float(norms.mean())
                if mean > 0 and np.isfinite(mean):
                    for distance, share in enumerate((norms.flip(0) / mean).tolist(), start=1):
                        groups[distance // WIDTH].append(share)
    model.zero_grad(set_to_none=True)
    return {"text": curve(groups, WIDTH, min(FEWEST, len(rows)))}


def facts(record: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Return what there is to tell about the text of a race."""
    score = next(iter(record["scores"].values()))
    return {"tokens": score["tokens"], "window": record["data"]["window"]}


def figures(record: dict[str, Any], metrics: list[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's own figures."""
    score = next(iter(record["scores"].values()))
    names = ("loss", "perplexity", "bits_per_byte", "word_perplexity")
    curve = [
        {name: line[key] for name, key in (("step", "step"), ("seconds", "seconds"), ("loss", "valid_loss"))}
        for line in metrics
        if {"valid_loss", "seconds"} <= line.keys()
    ]
    return {name: score[name] for name in names} | {
        "all_sets": {name: {figure: each[figure] for figure in names} for name, each in record["scores"].items()},
        "curve": curve,
        "positions": measured["positions"],
        "reach": measured["reach"],
    }
