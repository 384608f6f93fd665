"""A model on disk: config.json + model.safetensors + tokenizer.json, whole or absent; training state apart."""

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import (
    Bundle,
    TrainingState,
    read_bundle,
    read_config,
    read_training,
    write_bundle,
)
from regard.checkpoint.store import CheckpointStore, find_checkpoint

__all__ = [
    "Bundle",
    "CheckpointStore",
    "TrainingState",
    "find_checkpoint",
    "read_bundle",
    "read_config",
    "read_training",
    "write_bundle",
    "write_json",
]
