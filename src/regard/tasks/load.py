"""Loading of pipelines from runs, checkpoints, Hugging Face folders and files of word vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
from regard.pipelines.word_average import WordAverageEncoder
from regard.pipelines.word_vectors import WordVectors, load_word_vectors, names_word_vectors
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

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def load(
    path: str | Path,
    device: str = "auto",
    *,
    ensemble: Sequence[str | Path] = (),
    precision: str = "fp32",
    quantize: str = "none",
) -> Any:
    """Return the pipeline of a run (its best checkpoint), a checkpoint folder, or hf: and a Hugging Face folder.

    `ensemble` adds translators whose probabilities are averaged. Precision bf16 has three decimal digits: twice as
    fast for a large model, with almost always the same text. `quantize` speeds up a language model on a CPU with int8
    weights, for slightly higher perplexity. A file is a table of word vectors (word2vec or GloVe).
    """
    if Path(path).is_file():
        return WordVectors.of_file(Path(path))
    return _load(path, device, precision, None, ensemble, quantize)


def load_translator(
    path: str | Path, device: str = "auto", *, ensemble: Sequence[str | Path] = (), precision: str = "fp32"
) -> Translator:
    """Return the translator at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "translate", ensemble)


def load_generator(
    path: str | Path, device: str = "auto", *, precision: str = "fp32", quantize: str = "none"
) -> Generator:
    """Return the language model at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "language-model", quantize=quantize)


def load_classifier(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Classifier:
    """Return the classifier at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "classify")


def load_regressor(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Regressor:
    """Return the regression model at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "regress")


def load_chooser(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> MultipleChoice:
    """Return the multiple-choice model at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "choose")


def load_tagger(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Tagger:
    """Return the tagger at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "tag")


def load_answerer(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> QuestionAnswerer:
    """Return the question-answering model at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "answer")


def load_masked(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Encoder:
    """Return the masked language model at a path as `load` does; a model of another task is refused."""
    return _load(path, device, precision, "masked-language-model")


def load_encoder(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Encoder:
    """Return the text encoder at a path, of any task and with any head."""
    bundle = _bundle(path, device, precision)
    kind = family(bundle.settings.family).kind
    if kind not in ("encoder", "bidirectional-lm"):
        task = find_task(bundle.task)
        raise ConfigError(
            f"{path}: this is {task.wording.noun} of the family {bundle.settings.family}, and only a text encoder "
            f"such as BERT embeds texts; use it with regard {task.verbs}."
        )
    return ElmoEncoder(bundle) if kind == "bidirectional-lm" else Encoder(bundle)


def load_text_vectors(
    path: str | Path, device: str = "auto", *, precision: str = "fp32"
) -> Encoder | WordAverageEncoder:
    """Return an embedder of texts: a text encoder, or word vectors of a run or a file."""
    if names_word_vectors(str(path)):
        return WordAverageEncoder(load_word_vectors(path))
    return load_encoder(path, device, precision=precision)


def read_model(path: str | Path) -> Bundle:
    """Return the model of a run or checkpoint, its decoding defaults checked, to be written in another form."""
    bundle = read_bundle(find_checkpoint(Path(path)))
    _find_task(path, bundle.task).check_bundle(bundle)
    return bundle


def read_task(path: str | Path) -> str:
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
    path: str | Path,
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
    if isinstance(pipeline, WordVectors):
        pipeline.name = str(path)  # shown in messages about unknown words
    return pipeline


def _bundle(path: str | Path, device: str, precision: str, wanted: str | None = None) -> Bundle:
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


def _find_task(path: str | Path, name: str, wanted: str | None = None) -> AnyTask:
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
