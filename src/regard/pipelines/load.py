"""From a path to something that answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import Bundle, find_checkpoint, read_bundle, read_config
from regard.errors import CheckpointError, ConfigError
from regard.interop import read as read_hugging_face
from regard.pipelines.classifier import Chooser, Classifier
from regard.pipelines.translator import Translator, translation_tokenizers
from regard.text import Tokenizer
from regard.training import choose_device
from regard.training.machine import choose_precision, keep_freed_memory

PIPELINES: dict[str, Any] = {"translate": Translator, "classify": Classifier, "choose": Chooser}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def load(
    path: str | Path, device: str = "auto", *, ensemble: Sequence[str | Path] = (), precision: str = "fp32"
) -> Any:
    """Return the pipeline of a run (its best checkpoint), a checkpoint folder, or hf: and a Hugging Face folder.

    Further ones make an ensemble: the mean of their probabilities decides. In precision bf16 weights and sums are
    rounded to three digits: twice as fast where the model is large, and the same text only almost always.
    """
    if precision not in DTYPES:
        raise ConfigError(f'precision: "{precision}" is not one of {", ".join(DTYPES)}.')
    keep_freed_memory()
    first, others = _bundle(path, device), [_bundle(other, device) for other in ensemble]
    for bundle in (first, *others):
        choose_precision(precision, next(bundle.model.parameters()).device)
        bundle.model.to(DTYPES[precision])
    for name, other in zip(ensemble, others, strict=True):
        _check_same_tokenizers(str(path), first, str(name), other)
    return PIPELINES[first.task](first, others)


def read_task(path: str | Path) -> str:
    """Return the task of a run, a checkpoint folder, or hf: and a Hugging Face folder."""
    if str(path).startswith("hf:"):
        return read_hugging_face(Path(str(path).removeprefix("hf:"))).task
    return str(read_config(find_checkpoint(Path(path)))["task"])


def _bundle(path: str | Path, device: str) -> Bundle:
    if str(path).startswith("hf:"):
        bundle = read_hugging_face(Path(str(path).removeprefix("hf:")))
        bundle.model.to(choose_device(device))
        return bundle
    folder = find_checkpoint(Path(path))
    bundle = read_bundle(folder, choose_device(device))
    if bundle.task not in PIPELINES:
        raise CheckpointError(f'{folder}: its task "{bundle.task}" is unknown to this version of regard; upgrade it.')
    return bundle


def _check_same_tokenizers(path: str, bundle: Bundle, other_path: str, other: Bundle) -> None:
    """Refuse an ensemble whose members' probabilities are not of the same tokens."""
    sides = [translation_tokenizers(each.tokenizers) for each in (bundle, other)]
    for side, mine, theirs in zip(("source", "target"), *sides, strict=True):
        if mine.to_json() != theirs.to_json():
            raise CheckpointError(
                f"{other_path}: its {side} tokenizer is not that of {path}, so they do not say the same tokens; "
                f"train one of them with the other's (text.tokenizer)."
            )


def load_tokenizer(path: Path, side: str = "source") -> Tokenizer:
    """Return the tokenizer of a tokenizer.json, or that of one side of a run or checkpoint."""
    if path.is_file():
        return Tokenizer.load(path)
    if side not in ("source", "target"):
        raise ConfigError(f'side: "{side}" is not one of source, target.')
    folder = find_checkpoint(path)
    is_shared = "tokenizer" in read_config(folder)["tokenizers"]
    return Tokenizer.load(folder / ("tokenizer.json" if is_shared else f"tokenizer.{side}.json"))
