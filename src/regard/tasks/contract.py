"""The table of tasks: what each one binds together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.config.settings import Settings
from regard.data.sources.pair import Pair
from regard.errors import ConfigError
from regard.models.base.protocols import ModelSettings
from regard.models.families import Kind
from regard.progress import Progress
from regard.runs.scores.evaluate import score_tests
from regard.runs.store.folder import Run
from regard.tasks.data import Prepared
from regard.tasks.elmo.evaluate import score_elmo
from regard.tasks.elmo.prepare import prepare_elmo
from regard.tasks.elmo.settings import ElmoRunSettings
from regard.tasks.finetune.data import example_files
from regard.tasks.finetune.evaluate import score_labels
from regard.tasks.finetune.prepare import prepare_labels
from regard.tasks.finetune.settings import (
    AnswerSettings,
    ChooseSettings,
    ClassifySettings,
    RegressSettings,
    TagSettings,
    settings_of,
)
from regard.tasks.init_from import RATE_OF_GOING_ON, RATE_OF_TRANSLATORS, RATES, InitFrom
from regard.tasks.language_model.evaluate import score_texts
from regard.tasks.language_model.prepare import prepare_language
from regard.tasks.masked_lm.evaluate import score_masked
from regard.tasks.masked_lm.prepare import prepare_masked
from regard.tasks.masked_lm.settings import MaskedSettings
from regard.tasks.translate.prepare import file_hashes, prepare_translation
from regard.tasks.translate.settings import LanguageSettings, translate_settings
from regard.tasks.word_vectors.prepare import prepare_vectors, score_vectors
from regard.tasks.word_vectors.settings import VectorSettings
from regard.training.device.machine import Machine

Prepare = Callable[[Any, Machine, Progress, Bundle | None, Sequence[Pair] | None], Prepared]
"""From settings (and a resumed model, or pairs from memory) to what the loop needs."""


@dataclass(frozen=True)
class Task:
    """A kind of run."""

    settings: Callable[[type[ModelSettings]], type[Settings]]
    """Its settings for a model of some family."""
    prepare: Prepare
    models: tuple[Kind, ...]
    """Which models it is for, the usual ones first."""
    score: Callable[[Run, Any, Prepared, Progress], dict[str, Any]]
    """Scores a run that has just ended, with its pipeline, and returns the figures by set."""
    files: Callable[[Any], dict[str, str]]
    """Hashes of the files that data settings name, where they are not compared in another way."""
    places: str
    """The flags that say what to learn from."""
    beginning: InitFrom | None = None
    """How it begins with a model that has learned already, where it may."""


def _fine_tuning(settings: Any, *models: Kind) -> Task:
    """Return a task that puts a head on a model."""
    build = lambda model: settings_of(settings, model)
    beginning = InitFrom({kind: RATES[kind] for kind in models})
    return Task(build, prepare_labels, models, score_labels, example_files, "--data FILE", beginning)


TRANSLATORS: tuple[Kind, ...] = ("seq2seq", "conditional-masked-lm")
TASKS = {
    "answer": _fine_tuning(AnswerSettings, "encoder"),
    "choose": _fine_tuning(ChooseSettings, "causal-lm", "encoder"),
    "classify": _fine_tuning(ClassifySettings, "causal-lm", "encoder", "bidirectional-lm", "embeddings"),
    "elmo": Task(
        lambda model: ElmoRunSettings[model],  # type: ignore[valid-type]
        prepare_elmo,
        ("bidirectional-lm",),
        score_elmo,
        lambda data: {},  # the manifest of the tokenized text knows them, and its hash is compared
        "--text FILE or --text FOLDER",
        InitFrom({"bidirectional-lm": RATE_OF_GOING_ON}, is_fine_tuning=False),
    ),
    "language-model": Task(
        lambda model: LanguageSettings[model],  # type: ignore[valid-type]
        prepare_language,
        ("causal-lm",),
        score_texts,
        lambda data: {},  # as above
        "--text FILE or --text FOLDER",
        InitFrom({"causal-lm": RATE_OF_GOING_ON}, is_fine_tuning=False, takes_vectors=True),
    ),
    "masked-language-model": Task(
        lambda model: MaskedSettings[model],  # type: ignore[valid-type]
        prepare_masked,
        ("encoder",),
        score_masked,
        lambda data: {},  # as above
        "--text FILE or --text FOLDER",
        InitFrom({"encoder": RATE_OF_GOING_ON}, is_fine_tuning=False, free=("next_sentence_head",)),
    ),
    "regress": _fine_tuning(RegressSettings, "causal-lm", "encoder", "bidirectional-lm", "embeddings"),
    "tag": _fine_tuning(TagSettings, "encoder", "bidirectional-lm", "embeddings"),
    "translate": Task(
        translate_settings,
        prepare_translation,
        TRANSLATORS,
        score_tests,
        file_hashes,
        "--source FILE --target FILE, or --data FILE",
        InitFrom(dict.fromkeys(TRANSLATORS, RATE_OF_TRANSLATORS), is_fine_tuning=False, takes_vectors=True),
    ),
    "vectors": Task(
        lambda model: VectorSettings[model],  # type: ignore[valid-type]
        prepare_vectors,
        ("word-vectors",),
        score_vectors,
        lambda data: {},  # as above
        "--text FILE or --text FOLDER",
    ),
}


def task(name: str) -> Task:
    """Return the task of that name."""
    if name not in TASKS:
        raise ConfigError(f'task: "{name}" is not one of {", ".join(TASKS)}.')
    return TASKS[name]
