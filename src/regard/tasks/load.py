"""Loading of pipelines from runs, checkpoints, Hugging Face folders and files of word vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

import torch

from regard import registry
from regard.checkpoint.bundle import Bundle, read_bundle, read_config
from regard.checkpoint.identity import HUGGING_FACE
from regard.checkpoint.store import find_checkpoint
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.read import read as read_hugging_face
from regard.interop.huggingface.read import read_task as read_hugging_face_task
from regard.models.families import family
from regard.pipelines.encoder import Encoder
from regard.pipelines.word_vectors import WordVectors
from regard.tasks.answer.pipeline import QuestionAnswerer
from regard.tasks.choose.pipeline import MultipleChoice
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.data import translation_tokenizers
from regard.tasks.declarations import LoadOptions
from regard.tasks.elmo.pipeline import ElmoEncoder
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.quantization import check_quantize
from regard.tasks.regress.pipeline import Regressor
from regard.tasks.tag.pipeline import Tagger
from regard.tasks.translate.pipeline import Translator
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import choose_device, choose_precision, keep_freed_memory

Source = str | Path
"""A run, a checkpoint folder, hf: and a Hugging Face folder, or a file of word vectors."""
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


@overload
def load(
    path: Source,
    device: str = "auto",
    *,
    task: Literal["translate"],
    precision: str = "fp32",
    ensemble: Sequence[Source] = (),
) -> Translator: ...
@overload
def load(
    path: Source,
    device: str = "auto",
    *,
    task: Literal["language-model"],
    precision: str = "fp32",
    quantize: str = "none",
) -> Generator: ...
@overload
def load(
    path: Source, device: str = "auto", *, task: Literal["masked-language-model"], precision: str = "fp32"
) -> Encoder: ...
@overload
def load(path: Source, device: str = "auto", *, task: Literal["elmo"], precision: str = "fp32") -> ElmoEncoder: ...
@overload
def load(path: Source, device: str = "auto", *, task: Literal["vectors"], precision: str = "fp32") -> WordVectors: ...
@overload
def load(path: Source, device: str = "auto", *, task: Literal["classify"], precision: str = "fp32") -> Classifier: ...
@overload
def load(path: Source, device: str = "auto", *, task: Literal["regress"], precision: str = "fp32") -> Regressor: ...
@overload
def load(path: Source, device: str = "auto", *, task: Literal["tag"], precision: str = "fp32") -> Tagger: ...
@overload
def load(
    path: Source, device: str = "auto", *, task: Literal["answer"], precision: str = "fp32"
) -> QuestionAnswerer: ...
@overload
def load(
    path: Source, device: str = "auto", *, task: Literal["choose"], precision: str = "fp32"
) -> MultipleChoice: ...
@overload
def load(
    path: Source,
    device: str = "auto",
    *,
    task: str | None = None,
    precision: str = "fp32",
    ensemble: Sequence[Source] = (),
    quantize: str = "none",
) -> Any: ...
def load(
    path: Source,
    device: str = "auto",
    *,
    task: str | None = None,
    precision: str = "fp32",
    ensemble: Sequence[Source] = (),
    quantize: str = "none",
) -> object:
    """Return the pipeline of a run (its best checkpoint), a checkpoint folder, or hf: and a Hugging Face folder.

    With `task` the result is typed, and a model of another task is refused. `ensemble` adds translators whose
    probabilities are averaged. Precision bf16 has three decimal digits: twice as fast for a large model, with almost
    always the same text. `quantize` speeds up a language model on a CPU with int8 weights, for slightly higher
    perplexity. A file is a table of word vectors (word2vec or GloVe).
    """
    if Path(path).is_file() and task in (None, "vectors"):
        return WordVectors.of_file(Path(path))
    return _load(path, device, precision, task, ensemble, quantize)


def load_encoder(path: Source, device: str = "auto", *, precision: str = "fp32") -> Encoder:
    """Return the text encoder at a path, of any task and with any head."""
    return encoder_of(_bundle(path, device, precision), path)


def encoder_of(bundle: Bundle, path: Source) -> Encoder:
    """Return the text encoder of a model of any task; the path is for messages."""
    kind = family(bundle.settings.family).kind
    if kind not in ("encoder", "bidirectional-lm"):
        task = find_task(bundle.task)
        raise ConfigError(
            f"{path}: this is {task.wording.noun} of the family {bundle.settings.family}, and only a text encoder "
            f"such as BERT embeds texts; use it with regard {task.verbs}."
        )
    return ElmoEncoder(bundle) if kind == "bidirectional-lm" else Encoder(bundle)


def read_model(path: Source) -> Bundle:
    """Return the model of a run or checkpoint, its decoding defaults checked, to be written in another form."""
    bundle = read_bundle(find_checkpoint(Path(path)))
    _find_task(path, bundle.task).check_bundle(bundle)
    return bundle


def read_task(path: Source) -> str:
    """Return the name of the task of a run, a checkpoint folder, or hf: and a Hugging Face folder."""
    if str(path).startswith(HUGGING_FACE):
        return read_hugging_face_task(Path(str(path).removeprefix(HUGGING_FACE)))
    return str(read_config(find_checkpoint(Path(path)))["task"])


def load_tokenizer(path: Path, side: str = "source") -> Tokenizer:
    """Return the tokenizer of a tokenizer.json, or that of one side of a run or checkpoint."""
    if path.is_file():
        return Tokenizer.load(path)
    if side not in ("source", "target"):
        raise ConfigError(f'side: "{side}" is not one of source, target.')
    folder = find_checkpoint(path)
    is_shared = "tokenizer" in read_config(folder)["tokenizers"]
    return Tokenizer.load(folder / ("tokenizer.json" if is_shared else f"tokenizer.{side}.json"))


def _load(
    path: Source,
    device: str,
    precision: str,
    wanted: str | None,
    ensemble: Sequence[str | Path] = (),
    quantize: str = "none",
) -> Any:
    if quantize != "none":
        check_quantize(quantize, choose_device(device), precision)
    task = _find_task(path, read_task(path), wanted)
    if quantize != "none" and "quantize" not in task.loads:
        raise ConfigError(
            f"quantize: {path} is {task.wording.noun}, and only language models take {quantize}; leave it out."
        )
    if ensemble and "ensemble" not in task.loads:
        raise ConfigError(
            f"ensemble: {path} is {task.wording.noun}, and only translators form an ensemble; leave it out."
        )
    first = _bundle(path, device, precision, task.name)
    others = [_bundle(other, device, precision, task.name) for other in ensemble]
    for name, other in zip(ensemble, others, strict=True):
        _check_same_tokenizers(str(path), first, str(name), other)
    pipeline = task.pipeline(first, LoadOptions(quantize, tuple(others)))
    pipeline.origin = str(path)
    return pipeline


def _bundle(path: Source, device: str, precision: str, wanted: str | None = None) -> Bundle:
    """Return the bundle of a model; one of another task than the wanted is refused."""
    if precision not in DTYPES:
        raise ConfigError(f'precision: "{precision}" is not one of {", ".join(DTYPES)}.')
    keep_freed_memory()
    if str(path).startswith(HUGGING_FACE):
        bundle = read_hugging_face(Path(str(path).removeprefix(HUGGING_FACE)))
        _find_task(path, bundle.task, wanted)
        bundle.model.to(choose_device(device))
    else:
        folder = find_checkpoint(Path(path))
        _find_task(path, str(read_config(folder).get("task")), wanted)
        bundle = read_bundle(folder, choose_device(device))
    choose_precision(precision, next(bundle.model.parameters()).device)
    bundle.model.to(DTYPES[precision])
    return bundle


def _find_task(path: Source, name: str, wanted: str | None = None) -> AnyTask:
    """Return a model's task; an unknown one, or another than the wanted, is refused."""
    if not registry.has_task(name):
        raise CheckpointError(f'{path}: its task "{name}" is unknown to this version of regard; upgrade it.')
    task = find_task(name)
    if wanted is not None and name != wanted:
        raise ConfigError(
            f"{path}: this is {task.wording.noun}, not {find_task(wanted).wording.noun}; use it with regard "
            f"{task.verbs}."
        )
    return task


def _check_same_tokenizers(path: str, bundle: Bundle, other_path: str, other: Bundle) -> None:
    """Refuse an ensemble whose members have different tokenizers."""
    sides = [translation_tokenizers(each.tokenizers) for each in (bundle, other)]
    for side, first, second in zip(("source", "target"), *sides, strict=True):
        if first.to_json() != second.to_json():
            raise CheckpointError(
                f"{other_path}: its {side} tokenizer is not that of {path}, so they do not predict the same tokens; "
                f"train one of them with the other's (text.tokenizer)."
            )
