"""Features of a frozen encoder for a tagger: which layers know most about words (Devlin et al., 2019, table 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from regard.config.settings import Settings
from regard.data.encoding.frozen_features import ALL, WAYS, FrozenFeatures, Way, needed_layers, recipe_of
from regard.data.encoding.tagged import EncodedTags, encode_tagged
from regard.data.encoding.templates import SequenceTemplate
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import micro_batches
from regard.data.settings.examples import ExampleData, TagSource
from regard.data.sources.tagged_tables import TaggedRow
from regard.inspection.hidden_states import read_layers
from regard.metrics.bootstrap import bootstrap
from regard.models.feature_tagger import FeatureTaggerSettings, new_feature_tagger
from regard.models.heads import vector_width
from regard.objectives.head import HeadObjective
from regard.pipelines.encoder import Encoder
from regard.pipelines.head_scores import head_outputs
from regard.progress import SILENT, Progress
from regard.tasks.finetune.data import ExampleSets, gather_examples, report_counts
from regard.tasks.finetune.records import LabelFacts
from regard.tasks.load import load_encoder
from regard.tasks.tag.task import TASK
from regard.training.device.machine import Machine, prepare_machine
from regard.training.loop import Hooks, Trainer
from regard.training.settings import MachineSettings, TrainSettings

TOKENS_AT_ONCE = {"cpu": 8192, "cuda": 65536}
Layers = dict[int, NDArray[np.float16]]


class FeatureSettings(Settings):
    """How a tagger learns from vectors that stay as they are."""

    tagger: FeatureTaggerSettings = FeatureTaggerSettings()
    epochs: float = Field(10, gt=0)
    """Passes over the sentences."""
    examples_per_update: int = Field(32, ge=1)
    """Sentences that make an update."""
    learning_rate: float = Field(2e-3, gt=0)
    """The peak rate."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""


@dataclass(frozen=True)
class FeatureRow:
    """What a tagger over one way of taking features finds on the validation set, after its best epoch."""

    layers: Way
    width: int
    """How many numbers stand for a word."""
    f1: float
    interval: tuple[float, float]
    """Of F1: 95 %, by bootstrap over the sentences."""
    accuracy: float
    epoch: float
    """Passes after which it was best."""


def measure_features(
    path: str | Path,
    data: ExampleData[TagSource],
    ways: Sequence[Way] = WAYS,
    settings: FeatureSettings | None = None,
    *,
    device: str = "auto",
    progress: Progress = SILENT,
) -> list[FeatureRow]:
    """Read sentences once, train a tagger over each way of taking features of them, and return what each finds."""
    settings = settings or FeatureSettings()
    encoder = load_encoder(path, device)
    sets = gather_examples(TASK, data, progress)
    report_counts(TASK, sets, progress)
    facts = LabelFacts(labels=sets.labels, max_length=max(8, encoder.max_length))
    TASK.check_rows("valid", sets.valid, facts)
    machine = prepare_machine(MachineSettings(device=str(encoder.device), precision="fp32", cuda_graphs=False))
    blocks = len(encoder.model.hidden)
    short = [way for way in ways if way.endswith("last-4")] if blocks < 4 else []
    if short:
        progress.warn(f"{path}: it has {blocks} blocks, so {' and '.join(short)} take {blocks} instead of four.")
    needed = needed_layers(ways, blocks)
    encoded = [_encoded(encoder, each, sets) for each in (sets.train, sets.valid)]
    stored = [read_words(encoder, each, needed, progress) for each in encoded]
    found = []
    for way in ways:
        recipe = recipe_of(way, blocks)
        train, valid = (FrozenFeatures(*each, recipe) for each in zip(encoded, stored, strict=True))
        units = train.measured()
        job = _Job(way, train.in_units(units), valid.in_units(units), sets.valid, facts, settings, machine)
        found.append(job.run(progress))
    return found


def _encoded(encoder: Encoder, examples: Sequence[TaggedRow], sets: ExampleSets) -> EncodedTags:
    numbers = {label: number for number, label in enumerate(sets.labels)}
    labels = [[numbers[tag] for tag in each.tags] for each in examples]
    words, frame = [each.words for each in examples], SequenceTemplate.of(encoder.tokenizer, is_for_encoder=True)
    return encode_tagged(words, labels, encoder.tokenizer, frame, encoder.max_length)


@torch.inference_mode()
def read_words(encoder: Encoder, encoded: EncodedTags, layers: Sequence[int], progress: Progress = SILENT) -> Layers:
    """Return what each of some layers knows of every word's first piece (W, D), halved in precision to be kept."""
    blocks = len(encoder.model.hidden)
    wanted = sorted({*(range(1, blocks + 1) if ALL in layers else ()), *(each for each in layers if each != ALL)})
    words, width = len(encoded.labels.ids), vector_width(encoder.model)
    found: Layers = {layer: np.zeros((words, width), np.float16) for layer in layers}
    limit = TOKENS_AT_ONCE.get(encoder.device.type, TOKENS_AT_ONCE["cpu"])
    with progress.bar("read", len(encoded)) as bar:
        for rows in micro_batches(np.arange(len(encoded)), *encoded.lengths, limit):
            tokens, token_mask = (
                each.to(encoder.device) for each in encoded.sequences.padded(rows, encoder.tokenizer.pad_id)
            )
            hidden = dict(zip(wanted, read_layers(encoder.model, wanted, tokens, None, token_mask), strict=True))
            if ALL in layers:
                hidden[ALL] = torch.stack([hidden[layer] for layer in range(1, blocks + 1)]).sum(0)
            steps = encoded.steps.select(rows)
            places = np.repeat(np.arange(len(rows)) * tokens.size(1), steps.lengths) + steps.ids
            own = np.concatenate([np.arange(*encoded.steps.starts[row : row + 2]) for row in rows])
            for layer in layers:
                known = hidden[layer].flatten(0, 1)[torch.from_numpy(places).to(encoder.device)]
                found[layer][own] = known.half().cpu().numpy()
            bar.advance(len(rows))
    return found


@dataclass(frozen=True)
class _Job:
    """One way of taking features, and what is learned and measured with it."""

    way: Way
    train: FrozenFeatures
    valid: FrozenFeatures
    examples: Sequence[TaggedRow]
    facts: LabelFacts
    settings: FeatureSettings
    machine: Machine

    def run(self, progress: Progress) -> FeatureRow:
        """Train a tagger and return its best row."""
        chosen = self.settings
        model = new_feature_tagger(chosen.tagger, self.train.width, len(self.facts.labels), chosen.seed)
        limit = self.machine.micro_batch_tokens
        feed = PairFeed(lambda epoch: self.train, chosen.examples_per_update, limit, chosen.seed, 4, True)
        per_epoch = feed.updates_in(0)
        planned = TrainSettings(
            steps=10**7,
            epochs=chosen.epochs,
            optimizer="adamw",
            weight_decay=0.01,
            learning_rate=chosen.learning_rate,
            schedule="linear",
            warmup=0.1,
            validate_every=per_epoch,
            select_by="f1",
        ).planned(per_epoch)
        rows: list[FeatureRow] = []

        def validate(model: Any) -> dict[str, float]:
            scores = head_outputs(model, self.valid, self.machine.device, limit)
            predictions = TASK.predictions(self.examples, self.valid.encoded, scores, self.facts)
            metrics = TASK.compute_metrics(self.examples, predictions, self.facts)
            if not rows or metrics["f1"] > rows[0].f1:
                statistics = TASK.statistics(self.examples, predictions.lines, self.facts)
                low, high = bootstrap(statistics.get("f1", statistics["accuracy"]), len(self.examples))
                epoch = round(trainer.state.step / per_epoch, 1)
                row = FeatureRow(self.way, self.train.width, metrics["f1"], (low, high), metrics["accuracy"], epoch)
                rows[:] = [row]
            return {"loss": predictions.loss, "f1": metrics["f1"]}

        hooks = Hooks(validate, lambda *_: None, progress=progress)
        objective = HeadObjective()
        trainer = Trainer(
            model, feed, objective, planned, self.machine, hooks, seed=chosen.seed, width=self.train.width
        )
        trainer.run()
        return rows[0]
