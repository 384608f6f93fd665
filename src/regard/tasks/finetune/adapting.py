"""Adapters of a pretrained model, and weights of labels."""

from typing import Any

import torch
from torch import Tensor

from regard.checkpoint.bundle import Bundle
from regard.errors import ConfigError
from regard.models.adapters import add_lora
from regard.models.base.settings import ModelSettings
from regard.objectives.head import balanced_weights
from regard.progress import Progress
from regard.tasks.finetune.data import AnyHeadTask
from regard.tasks.finetune.settings import FineTuneSettings
from regard.training.device.machine import Machine

Settings = FineTuneSettings[ModelSettings]

LABELED = ("classification", "token-classification")
"""Kinds of heads whose outputs are labels."""


def adapt(bundle: Bundle, settings: Settings, progress: Progress) -> None:
    """Give a model low-rank updates, or freeze its layers until their time, where the settings ask for it."""
    train, model = settings.train, bundle.model
    asked = "train.adapter" if train.adapter != "none" else "train.unfreeze_over" if train.unfreeze_over else None
    if asked is None:
        return
    if settings.init_from is None:
        raise ConfigError(f"{asked}: there is no pretrained model to adapt; give --init-from, or leave it out.")
    if model.is_frozen:
        raise ConfigError(
            f"{asked}: the pretrained model is frozen; set freeze_body=false, or leave one of both out."
        )
    if train.adapter != "none" and train.unfreeze_over:
        raise ConfigError("train.unfreeze_over: updates of frozen weights leave no layer to unfreeze; leave it out.")
    if train.unfreeze_over:
        model.unfreeze_gradually(train.unfreeze_over)
        return
    seed = settings.seed
    if not add_lora(model.body, train.lora_rank, train.lora_alpha, train.lora_targets, seed):
        raise ConfigError(
            f"train.adapter: low-rank updates are for Transformers, and {settings.init_from} is a model of the "
            f"family {settings.model.family}; leave it out."
        )
    trained = sum(each.numel() for each in model.parameters() if each.requires_grad)
    everything = sum(each.numel() for each in model.parameters())
    progress.info(f"LoRA: {trained:,} of {everything:,} parameters are trained.")


def class_weights(
    task: AnyHeadTask, settings: Settings, encoded: Any, outputs: int, machine: Machine
) -> Tensor | None:
    """Return the weight of each label on the device; None: all count alike."""
    if settings.objective.class_weights == "none":
        return None
    labels = getattr(encoded.labels, "ids", encoded.labels)
    ids = torch.as_tensor(labels)
    if task.head not in LABELED or ids.is_floating_point() or ids.dim() != 1:
        raise ConfigError(
            f"objective.class_weights: labels have weights where an example or a word has one, and {settings.task} "
            f"predicts something else; leave it out."
        )
    return balanced_weights(ids.long(), outputs).to(machine.device)
