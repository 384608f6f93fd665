"""A model on disk: config.json + model.safetensors + tokenizer.json, whole or absent; training state apart."""

from regard.checkpoint.atomic import is_leftover, write_json, write_text
from regard.checkpoint.average import Which, average_checkpoints, kept_checkpoints
from regard.checkpoint.bundle import (
    Bundle,
    TrainingState,
    read_bundle,
    read_config,
    read_training,
    read_weights,
    write_bundle,
)
from regard.checkpoint.store import CheckpointStore, Keeping, find_checkpoint

__all__ = [
    "Bundle",
    "CheckpointStore",
    "Keeping",
    "TrainingState",
    "Which",
    "average_checkpoints",
    "find_checkpoint",
    "is_leftover",
    "kept_checkpoints",
    "read_bundle",
    "read_config",
    "read_training",
    "read_weights",
    "write_bundle",
    "write_json",
    "write_text",
]
