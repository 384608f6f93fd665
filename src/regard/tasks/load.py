"""From a path to something that answers."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from regard.checkpoint.bundle import Bundle, read_bundle, read_config
from regard.checkpoint.store import find_checkpoint
from regard.errors import CheckpointError, ConfigError
from regard.interop.huggingface.read import read as read_hugging_face
from regard.interop.huggingface.read import read_task as read_hugging_face_task
from regard.models.families import family
from regard.pipelines.encoder import Encoder
from regard.pipelines.word_average import WordAverageEncoder
from regard.pipelines.word_vectors import WordVectors
from regard.progress import SILENT, Progress
from regard.tasks.answer.pipeline import QuestionAnswerer
from regard.tasks.classify.pipeline import Classifier, MultipleChoice
from regard.tasks.elmo.pipeline import ElmoEncoder
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.language_model.quantization import check_quantize
from regard.tasks.regress.pipeline import Regressor
from regard.tasks.tag.pipeline import Tagger
from regard.tasks.translate.mask_predict import build_translator
from regard.tasks.translate.pipeline import Translator, translation_tokenizers
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import choose_device, choose_precision, keep_freed_memory

Pipeline = (
    QuestionAnswerer
    | MultipleChoice
    | Classifier
    | Encoder
    | Generator
    | Regressor
    | Tagger
    | Translator
    | WordVectors
)
PIPELINES: dict[str, Callable[[Bundle], Pipeline]] = {
    "answer": QuestionAnswerer,
    "choose": MultipleChoice,
    "classify": Classifier,
    "elmo": ElmoEncoder,
    "language-model": Generator,
    "masked-language-model": Encoder,
    "regress": Regressor,
    "tag": Tagger,
    "translate": build_translator,
    "vectors": WordVectors.of_bundle,
}
KINDS = {
    "answer": "a model that answers questions",
    "choose": "a model that chooses",
    "classify": "a classifier",
    "elmo": "an ELMo",
    "language-model": "a language model",
    "masked-language-model": "a masked language model",
    "regress": "a model that says a number",
    "tag": "a tagger",
    "translate": "a translator",
    "vectors": "a table of word vectors",
}
"""What the model of a task is called in a sentence."""
VERBS = {
    "answer": "answer and evaluate",
    "choose": "choose and evaluate",
    "classify": "classify and evaluate",
    "elmo": "embed, similar and evaluate",
    "language-model": "generate and score",
    "masked-language-model": "fill, embed, similar and evaluate",
    "regress": "regress and evaluate",
    "tag": "tag and evaluate",
    "translate": "translate, score and evaluate",
    "vectors": "vectors",
}
"""What such a model is used with on the command line."""
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def load(
    path: str | Path,
    device: str = "auto",
    *,
    ensemble: Sequence[str | Path] = (),
    precision: str = "fp32",
    quantize: str = "none",
) -> Pipeline:
    """Return the pipeline of a run (its best checkpoint), a checkpoint folder, or hf: and a Hugging Face folder.

    Further ones make an ensemble of translators: the mean of their probabilities decides. In precision bf16 weights
    and sums are rounded to three digits: twice as fast where the model is large, the same text only almost always.
    A language model on a CPU is faster with int8 weights, for a little more perplexity (see `weights_cost`). A file
    is a table of word vectors, as word2vec or GloVe write it.
    """
    if Path(path).is_file():
        return WordVectors.of_file(Path(path))
    if quantize != "none":
        check_quantize(quantize, choose_device(device), precision)
        task = read_task(path)
        _check_task(path, task, None)
        if task != "language-model":
            raise ConfigError(
                f"quantize: {path} is {KINDS[task]}, and only language models take {quantize}; leave it out."
            )
    first = _bundle(path, device, precision)
    if not ensemble:
        if first.task == "language-model":
            return Generator(first, quantize)
        found = PIPELINES[first.task](first)
        if isinstance(found, WordVectors):
            found.name = str(path)  # which its sentences about unknown words begin with
        return found
    if first.task != "translate":
        raise ConfigError(
            f"ensemble: {path} is {KINDS[first.task]}, and only translators decide together; leave it out."
        )
    return build_translator(first, _others(str(path), first, ensemble, device, precision))


def load_translator(
    path: str | Path, device: str = "auto", *, ensemble: Sequence[str | Path] = (), precision: str = "fp32"
) -> Translator:
    """Return the translator at a path as `load` does, and refuse a model of another task."""
    first = _bundle(path, device, precision, "translate")
    return build_translator(first, _others(str(path), first, ensemble, device, precision))


def load_generator(
    path: str | Path, device: str = "auto", *, precision: str = "fp32", quantize: str = "none"
) -> Generator:
    """Return the language model at a path as `load` does, and refuse a model of another task."""
    check_quantize(quantize, choose_device(device), precision)
    return Generator(_bundle(path, device, precision, "language-model"), quantize)


def load_classifier(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Classifier:
    """Return the classifier at a path as `load` does, and refuse a model of another task."""
    return Classifier(_bundle(path, device, precision, "classify"))


def load_regressor(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Regressor:
    """Return the model that says a number at a path as `load` does, and refuse a model of another task."""
    return Regressor(_bundle(path, device, precision, "regress"))


def load_chooser(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> MultipleChoice:
    """Return the model that chooses at a path as `load` does, and refuse a model of another task."""
    return MultipleChoice(_bundle(path, device, precision, "choose"))


def load_tagger(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Tagger:
    """Return the tagger at a path as `load` does, and refuse a model of another task."""
    return Tagger(_bundle(path, device, precision, "tag"))


def load_answerer(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> QuestionAnswerer:
    """Return the model that answers questions at a path as `load` does, and refuse a model of another task."""
    return QuestionAnswerer(_bundle(path, device, precision, "answer"))


def load_masked(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Encoder:
    """Return the masked language model at a path as `load` does, and refuse a model of another task."""
    return Encoder(_bundle(path, device, precision, "masked-language-model"))


def read_model(path: str | Path) -> Bundle:
    """Return the model of a run or checkpoint, its defaults of decoding checked, to be written in another form."""
    bundle = read_bundle(find_checkpoint(Path(path)))
    _check_task(path, bundle.task, None)
    if bundle.task == "translate":
        build_translator(bundle).decoding()
    elif bundle.task == "language-model":
        Generator(bundle).generation()
    return bundle


def load_encoder(path: str | Path, device: str = "auto", *, precision: str = "fp32") -> Encoder:
    """Return the text encoder at a path, whatever its task is and whichever head it has learned for it."""
    task = read_task(path)
    bundle = _bundle(path, device, precision)
    kind = family(bundle.settings.family).kind
    if kind not in ("encoder", "bidirectional-lm"):
        raise ConfigError(
            f"{path}: this is {KINDS[task]} of the family {bundle.settings.family}, and only a text encoder such as "
            f"BERT gives vectors; use it with regard {VERBS[task]}."
        )
    return ElmoEncoder(bundle) if kind == "bidirectional-lm" else Encoder(bundle)


def load_word_vectors(path: str | Path, first: int | None = None, progress: Progress = SILENT) -> WordVectors:
    """Return the word vectors of a run or checkpoint, or of a file of word2vec or GloVe (its `first` rows alone)."""
    if Path(path).is_file() or not Path(path).exists():
        return WordVectors.of_file(Path(path), first, progress)
    found = WordVectors.of_bundle(_bundle(path, "cpu", "fp32", "vectors"))
    found.name = str(path)
    return found if first is None else WordVectors(found.words[:first], found.vectors[:first], found.name)


def load_text_vectors(
    path: str | Path, device: str = "auto", *, precision: str = "fp32"
) -> Encoder | WordAverageEncoder:
    """Return what makes vectors of texts: a text encoder, or word vectors of a run or a file."""
    if Path(path).is_file() or (not str(path).startswith("hf:") and read_task(path) == "vectors"):
        return WordAverageEncoder(load_word_vectors(path))
    return load_encoder(path, device, precision=precision)


def _others(path: str, first: Bundle, ensemble: Sequence[str | Path], device: str, precision: str) -> list[Bundle]:
    """Return the further members of an ensemble."""
    others = [_bundle(other, device, precision, "translate") for other in ensemble]
    for name, other in zip(ensemble, others, strict=True):
        _check_same_tokenizers(path, first, str(name), other)
    return others


def read_task(path: str | Path) -> str:
    """Return the task of a run, a checkpoint folder, or hf: and a Hugging Face folder."""
    if str(path).startswith("hf:"):
        return read_hugging_face_task(Path(str(path).removeprefix("hf:")))
    return str(read_config(find_checkpoint(Path(path)))["task"])


def _bundle(path: str | Path, device: str, precision: str, wanted: str | None = None) -> Bundle:
    """Return a model with all it needs, of the task that is wanted."""
    if precision not in DTYPES:
        raise ConfigError(f'precision: "{precision}" is not one of {", ".join(DTYPES)}.')
    keep_freed_memory()
    if str(path).startswith("hf:"):
        bundle = read_hugging_face(Path(str(path).removeprefix("hf:")))
        _check_task(path, bundle.task, wanted)
        bundle.model.to(choose_device(device))
    else:
        folder = find_checkpoint(Path(path))
        _check_task(path, str(read_config(folder).get("task")), wanted)
        bundle = read_bundle(folder, choose_device(device))
    choose_precision(precision, next(bundle.model.parameters()).device)
    bundle.model.to(DTYPES[precision])
    return bundle


def _check_task(path: str | Path, task: str, wanted: str | None) -> None:
    """Refuse a model of a task that this version does not know, or that is not wanted."""
    if task not in PIPELINES:
        raise CheckpointError(f'{path}: its task "{task}" is unknown to this version of regard; upgrade it.')
    if wanted is not None and task != wanted:
        raise ConfigError(f"{path}: this is {KINDS[task]}, not {KINDS[wanted]}; use it with regard {VERBS[task]}.")


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
