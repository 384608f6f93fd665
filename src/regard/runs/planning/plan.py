"""What a run would do, before it does it."""

from dataclasses import dataclass
from typing import Any

from regard.models.base.protocols import Vocabularies
from regard.models.families import count_parameters, family
from regard.models.presets import preset
from regard.progress import SILENT, Progress
from regard.tasks.contract import task
from regard.training.device.machine import prepare_machine


@dataclass(frozen=True)
class Plan:
    """The size of a run."""

    task: str
    preset: str | None
    parameters: int
    vocabulary: int
    train_pairs: int
    valid_pairs: int
    dropped: dict[str, int]
    updates: int
    updates_per_epoch: int
    epochs: float
    device: str


@dataclass(frozen=True)
class TextPlan:
    """The size of a language model's run."""

    task: str
    preset: str | None
    parameters: int
    vocabulary: int
    train_tokens: int
    valid_tokens: int
    window: int
    updates: int
    updates_per_epoch: int
    epochs: float
    device: str


@dataclass(frozen=True)
class LabelPlan:
    """The size of a run that fine-tunes."""

    task: str
    init_from: str | None
    preset: str | None
    parameters: int
    vocabulary: int
    labels: int | None
    """How many labels there are; None where each example has choices of its own."""
    train_examples: int
    valid_examples: int
    cut: int
    dropped: dict[str, int]
    updates: int
    updates_per_epoch: int
    epochs: float
    device: str


@dataclass(frozen=True)
class WordPlan:
    """The size of a run that learns word vectors."""

    task: str
    preset: str | None
    parameters: int
    vocabulary: int
    train_words: int
    updates: int
    updates_per_epoch: int
    epochs: float
    device: str


def plan_run(settings: Any, progress: Progress = SILENT) -> Plan | TextPlan | LabelPlan | WordPlan:
    """Read and encode the data, build the model, and count; no run is written (tokenized text is kept for it)."""
    machine = prepare_machine(settings.machine)
    prepared = task(settings.task).prepare(settings, machine, progress, None, None)
    per_epoch = prepared.feed.updates_in(epoch=0)
    updates = settings.train.planned(per_epoch).steps
    if settings.task == "vectors":
        return WordPlan(
            task=settings.task,
            preset=settings.model.preset,
            parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
            vocabulary=prepared.bundle.vocabularies.target,
            train_words=prepared.facts["train"]["words"],
            updates=updates,
            updates_per_epoch=per_epoch,
            epochs=round(updates / per_epoch, 1),
            device=str(machine.device),
        )
    if "texts" in prepared.facts:
        return LabelPlan(
            task=settings.task,
            init_from=settings.init_from,
            preset=settings.model.preset,
            parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
            vocabulary=prepared.bundle.vocabularies.target,
            labels=len(prepared.bundle.facts["labels"]) if "labels" in prepared.bundle.facts else None,
            train_examples=prepared.facts["train"]["kept"],
            valid_examples=prepared.facts["valid"]["kept"],
            cut=prepared.facts["train"]["cut"],
            dropped=prepared.facts["train"]["dropped"],
            updates=updates,
            updates_per_epoch=per_epoch,
            epochs=round(updates / per_epoch, 1),
            device=str(machine.device),
        )
    if "window" in prepared.facts:
        return TextPlan(
            task=settings.task,
            preset=settings.model.preset,
            parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
            vocabulary=prepared.bundle.vocabularies.target,
            train_tokens=prepared.facts["train"]["tokens"],
            valid_tokens=prepared.facts["valid"]["tokens"],
            window=prepared.facts["window"],
            updates=updates,
            updates_per_epoch=per_epoch,
            epochs=round(updates / per_epoch, 1),
            device=str(machine.device),
        )
    return Plan(
        task=settings.task,
        preset=settings.model.preset,
        parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
        vocabulary=prepared.bundle.vocabularies.target,
        train_pairs=prepared.facts["train"]["kept"],
        valid_pairs=prepared.facts["valid"]["kept"],
        dropped=prepared.facts["train"]["dropped"],
        updates=updates,
        updates_per_epoch=per_epoch,
        epochs=round(updates / per_epoch, 1),
        device=str(machine.device),
    )


def preset_parameters(name: str, vocabulary: int) -> int:
    """Return the number of parameters of a preset with that many shared tokens."""
    found = preset(name)
    settings = family(found.settings["family"]).settings(**found.settings)
    return count_parameters(settings, Vocabularies(vocabulary, vocabulary, is_shared=True))
