"""Training speed of a recurrent translator with attention: regard against plain loops over nn.GRUCell.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/recurrent_speed.py

All sides hold the same weights (their losses on the first batch are compared), see the same batches and take turns
step by step, so that a machine that slows down slows all. The model is the preset `gru-attention`: a two-way GRU
and additive attention before every step. One plain loop is written as tutorials write it: states and encoder states
concatenated and multiplied at every step, and scores over the vocabulary made at every step. The careful one projects
the keys once and makes all scores at the end; it shows what is left when the algorithm is the same.
"""

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.models.base.settings import Vocabularies
from regard.models.families import build_model, family
from regard.models.presets import preset
from regard.objectives.loss import scaled_total
from regard.objectives.translation import TranslationObjective
from regard.training.device.machine import keep_freed_memory
from regard.training.optimizers import build_optimizer
from regard.training.settings import TrainSettings
from train_speed import Job, read


class PlainLoop(nn.Module):
    """The same model over nn.GRUCell, on regard's own weights."""

    def __init__(self, model: Any, is_careful: bool) -> None:
        super().__init__()
        self.model, self.is_careful = model, is_careful
        layer, decoder = model.encoder.layers[0], model.decoder
        self.ahead, self.back, self.cell = (as_cell(each) for each in (layer.ahead, layer.back, decoder.layers[0]))
        attention = decoder.cross.alignment
        self.energy = nn.Linear(2 * attention.key.in_features, attention.key.out_features)
        with torch.no_grad():
            self.energy.weight.copy_(torch.cat((attention.query.weight, attention.key.weight), 1))
            self.energy.bias.copy_(attention.key.bias)
        self.vector, self.bridge, self.readout = attention.vector, decoder.bridge, decoder.readout
        self.table, self.head = decoder.embedding.table, model.head
        self.scale = decoder.embedding.scale

    def encode(self, source: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (B, S, D) and the decoder's first state (B, D)."""
        x = self.table(source) * self.scale
        directions = []
        for cell, places in ((self.ahead, range(x.size(1))), (self.back, reversed(range(x.size(1))))):
            h, found = x.new_zeros(x.size(0), cell.hidden_size), {}
            for place in places:
                h = torch.where(token_mask[:, place, None], cell(x[:, place], h), h)
                found[place] = h
            directions.append((torch.stack([found[place] for place in range(x.size(1))], 1), h))
        states, last = (torch.cat([each[part] for each in directions], -1) for part in (0, 1))
        return states, self.bridge(last).tanh()

    def forward(self, batch: Any) -> Tensor:
        """Return the mean negative log probability of a label."""
        states, s = self.encode(batch.source, batch.source_mask)
        x = self.table(batch.target) * self.scale
        D, scores, tops, contexts = states.size(-1), [], [], []
        keys = F.linear(states, self.energy.weight[:, D:], self.energy.bias) if self.is_careful else None
        for step in range(x.size(1)):
            if keys is not None:
                energy = torch.tanh(F.linear(s, self.energy.weight[:, :D])[:, None] + keys)
            else:
                together = torch.cat((s[:, None].expand_as(states), states), -1)
                energy = torch.tanh(self.energy(together))
            e = (energy @ self.vector).masked_fill(~batch.source_mask, -torch.inf)
            context = (e.softmax(-1)[:, None] @ states)[:, 0]
            s = self.cell(torch.cat((x[:, step], context), -1), s)
            if self.is_careful:
                tops.append(s)
                contexts.append(context)
            else:
                scores.append(self.head(self.readout(torch.cat((s, x[:, step], context), -1)).tanh()))
        if self.is_careful:
            parts = (torch.stack(tops, 1), x, torch.stack(contexts, 1))
            logits = self.head(self.readout(torch.cat(parts, -1)).tanh())
        else:
            logits = torch.stack(scores, 1)
        labels = torch.full(batch.target.shape, -100).flatten()
        labels[batch.label_positions] = batch.labels
        return F.cross_entropy(logits.flatten(0, 1), labels)


def as_cell(layer: Any) -> nn.GRUCell:
    """Return a GRUCell with a layer's weights."""
    cell = nn.GRUCell(layer.input_weight.size(1), layer.width)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.fused.state_dict().items()})
    return cell


def build(side: str, vocabulary: int) -> tuple[nn.Module, Any]:
    """Return a side's model and the function that computes its loss."""
    found = preset("gru-attention").settings | {"dropout": 0.0, "embedding_dropout": 0.0}
    torch.manual_seed(0)
    model = build_model(family(found["family"]).settings(**found), Vocabularies(vocabulary, vocabulary, True))
    objective = TranslationObjective(label_smoothing=0.0)
    if side == "regard":
        return model, lambda batch: scaled_total(objective(model, batch), objective.counts(batch))
    loop = PlainLoop(model, is_careful=side == "careful loop")
    return loop, loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", help="line-aligned source file (.gz too); unset: the miniature world")
    parser.add_argument("--target")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=2048, help="target tokens a batch")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()  # for all sides alike
    job = Job(arguments.source, arguments.target, arguments.tokens, arguments.vocabulary)
    batches = read(job)
    sides = {side: build(side, arguments.vocabulary) for side in ("regard", "careful loop", "tutorial loop")}
    first = next(batches)
    with torch.no_grad():
        losses = {side: float(loss(first)) for side, (_, loss) in sides.items()}
    apart = max(losses.values()) - min(losses.values())
    print(f"same weights, same batch: losses differ by {apart:.1e}")
    if apart > 1e-4:
        raise SystemExit("the models are not the same; the comparison would mean nothing")
    optimizers = {
        side: build_optimizer(model, TrainSettings(learning_rate=1e-4)) for side, (model, _) in sides.items()
    }
    speeds: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(arguments.steps + 2):
        batch = next(batches)
        for side in list(sides) if number % 2 else list(sides)[::-1]:
            model, loss = sides[side]
            started = time.perf_counter()
            loss(batch).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizers[side].step()
            optimizers[side].zero_grad(set_to_none=True)
            if number >= 2:  # the first steps warm up
                speeds[side].append(batch.label_count / (time.perf_counter() - started))
    result = {
        "target_tokens_per_second": {side: round(statistics.median(each)) for side, each in speeds.items()},
        "regard_is_faster_by": {
            side: round(statistics.median(ours / theirs for ours, theirs in zip(speeds["regard"], each)), 3)
            for side, each in speeds.items()
            if side != "regard"
        },
        "steps": arguments.steps,
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}",
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
