"""Frozen encoder features: a tagger trained on each selection of layers (Devlin et al., 2019, table 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config.resolve import Layer, resolve
from regard.data.encoding.frozen_features import ALL, WAYS, FrozenFeatures, Way, needed_layers, recipe_of
from regard.data.encoding.tagged import EncodedTags, encode_tagged
from regard.data.encoding.templates import SequenceTemplate
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import micro_batches
from regard.data.settings.examples import ExampleData, TagSource
from regard.data.sources.tagged_tables import TaggedRow
from regard.errors import ConfigError
from regard.inspection.hidden_states import read_layers
from regard.metrics.bootstrap import bootstrap
from regard.models.feature_tagger import new_feature_tagger
from regard.models.heads import vector_width
from regard.objectives.head import HeadObjective
from regard.pipelines.encoder import Encoder
from regard.pipelines.head_scores import head_outputs
from regard.progress import SILENT, Progress
from regard.studies.settings import FeatureSettings
from regard.tasks.finetune.data import ExampleSets, gather_examples, report_counts
from regard.tasks.finetune.records import LabelFacts
from regard.tasks.load import load_encoder
from regard.tasks.tag.task import TASK
from regard.training.device.machine import Machine, prepare_machine
from regard.training.hooks import Hooks
from regard.training.loop import Trainer
from regard.training.settings import MachineSettings, TrainSettings

BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}
"""Padded tokens per batch, by device."""
Layers = dict[int, NDArray[np.float16]]
TagData = ExampleData[TagSource]


@dataclass(frozen=True)
class FeatureRow:
    """The validation metrics of a tagger over one selection of layers, after its best epoch."""

    layers: Way
    width: int
    """Features per word."""
    f1: float
    interval: tuple[float, float]
    """95 % interval of F1, by bootstrap over the sentences."""
    accuracy: float
    epoch: float
    """Epochs at the best validation."""
    header: ClassVar[tuple[str, ...]] = ("layers", "width", "F1 [95 %]", "accuracy", "best epoch")

    def cells(self) -> tuple[str, ...]:
        """Return the values as text, in the order of the header."""
        low, high = self.interval
        score = f"{self.f1:.4f} [{low:.4f}, {high:.4f}]"
        return self.layers, f"{self.width:,}", score, f"{self.accuracy:.4f}", f"{self.epoch:g}"


def chosen_ways(names: Sequence[str]) -> list[Way]:
    """Return the selections of layers of names, some separated by commas; none: all."""
    chosen: list[Any] = [each for name in names or WAYS for each in name.split(",")]
    if unknown := [each for each in chosen if each not in WAYS]:
        raise ConfigError(f'--layers: "{unknown[0]}" is not one of {", ".join(WAYS)}.')
    return chosen


def feature_data(data: str, valid_data: str | None = None, fields: Mapping[str, object] | None = None) -> TagData:
    """Return the sources of training and validation data, their columns alike; the limit of rows is for training."""
    columns = {name: value for name, value in (fields or {}).items() if name != "max_rows"}
    valid = {"valid": {"path": valid_data, **columns}} if valid_data else {}
    values = {"train": {"path": data, **(fields or {})}, **valid}
    return resolve(ExampleData[TagSource], [Layer("the command line", values)]).settings


def evaluate_features(
    path: str | Path,
    data: TagData,
    ways: Sequence[Way] = WAYS,
    settings: FeatureSettings | None = None,
    *,
    device: str = "auto",
    progress: Progress = SILENT,
) -> list[FeatureRow]:
    """Encode the sentences once, train a tagger over each selection of layers, and return their metrics."""
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
        progress.warn(
            f"{path}: it has {blocks} blocks, so {' and '.join(short)} use {blocks} layers instead of four."
        )
    needed = needed_layers(ways, blocks)
    encoded = [_encoded(encoder, each, sets) for each in (sets.train, sets.valid)]
    stored = [word_features(encoder, each, needed, progress) for each in encoded]
    rows = []
    for way in ways:
        selection = recipe_of(way, blocks)
        train, valid = (FrozenFeatures(*each, selection) for each in zip(encoded, stored, strict=True))
        units = train.measured()
        run = _TaggerRun(way, train.in_units(units), valid.in_units(units), sets.valid, facts, settings, machine)
        rows.append(run.train_tagger(progress))
    return rows


def _encoded(encoder: Encoder, examples: Sequence[TaggedRow], sets: ExampleSets) -> EncodedTags:
    ids = {label: number for number, label in enumerate(sets.labels)}
    labels = [[ids[tag] for tag in each.tags] for each in examples]
    words, template = [each.words for each in examples], SequenceTemplate.of(encoder.tokenizer, is_for_encoder=True)
    return encode_tagged(words, labels, encoder.tokenizer, template, encoder.max_length)


@torch.inference_mode()
def word_features(
    encoder: Encoder, encoded: EncodedTags, layers: Sequence[int], progress: Progress = SILENT
) -> Layers:
    """Return the hidden states (W, D) of every word's first token in each layer, in fp16."""
    blocks = len(encoder.model.hidden)
    numbers = sorted({*(range(1, blocks + 1) if ALL in layers else ()), *(each for each in layers if each != ALL)})
    words, width = len(encoded.labels.ids), vector_width(encoder.model)
    features: Layers = {layer: np.zeros((words, width), np.float16) for layer in layers}
    limit = BATCH_TOKENS.get(encoder.device.type, BATCH_TOKENS["cpu"])
    with progress.bar("encode", len(encoded)) as bar:
        for rows in micro_batches(np.arange(len(encoded)), *encoded.lengths, limit):
            tokens, token_mask = (
                each.to(encoder.device) for each in encoded.sequences.padded(rows, encoder.tokenizer.pad_id)
            )
            hidden = dict(zip(numbers, read_layers(encoder.model, numbers, tokens, None, token_mask), strict=True))
            if ALL in layers:
                hidden[ALL] = torch.stack([hidden[layer] for layer in range(1, blocks + 1)]).sum(0)
            steps = encoded.steps.select(rows)
            positions = np.repeat(np.arange(len(rows)) * tokens.size(1), steps.lengths) + steps.ids
            word_rows = np.concatenate([np.arange(*encoded.steps.starts[row : row + 2]) for row in rows])
            for layer in layers:
                states = hidden[layer].flatten(0, 1)[torch.from_numpy(positions).to(encoder.device)]
                features[layer][word_rows] = states.half().cpu().numpy()
            bar.advance(len(rows))
    return features


@dataclass(frozen=True)
class _TaggerRun:
    """One selection of layers, with the data and settings of its tagger."""

    way: Way
    train: FrozenFeatures
    valid: FrozenFeatures
    examples: Sequence[TaggedRow]
    facts: LabelFacts
    settings: FeatureSettings
    machine: Machine

    def train_tagger(self, progress: Progress) -> FeatureRow:
        """Train a tagger and return the metrics of its best epoch."""
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
                statistics = TASK.statistics_of(self.examples, predictions.lines, self.facts)
                key = "f1" if "f1" in statistics else "accuracy"
                low, high = bootstrap({key: statistics[key]}, len(self.examples))[key]
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
