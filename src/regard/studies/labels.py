"""The tasks `classify` and `choose`: labelled examples in, a model that is ready to learn from them out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import Bundle
from regard.checkpoint.bundle import weights_of
from regard.data.choices import Choice
from regard.data.examples import EncodedExamples
from regard.data.feed import PairFeed
from regard.data.frames import FRAME_TOKENS
from regard.data.pairs import Pair
from regard.errors import ConfigError
from regard.models import HeadSettings, ModelSettings, Vocabularies, build_model, count_parameters, take_over
from regard.objectives import LabelObjective
from regard.progress import SILENT, Progress
from regard.studies.label_data import (
    Example,
    ExampleSets,
    encode,
    example_files,
    gather_examples,
    say_counts,
    say_oddities,
)
from regard.studies.label_scores import ScoredSet, figures_of
from regard.studies.label_settings import ChooseSettings, ClassifySettings
from regard.studies.prepared import Prepared
from regard.studies.sizes import check_size
from regard.studies.start import read_start, start_hash
from regard.text import Tokenizer, train_tokenizer
from regard.training import Machine

Settings = ClassifySettings[ModelSettings] | ChooseSettings[ModelSettings]

USUAL_LENGTH = 512
"""Tokens of a sequence at most, for a model that has no bound."""
POOL = 4
"""Updates' worth of examples that are sorted by length together: few, because lengths may tell labels apart, and an
update should hold a mixture of them."""


def prepare_labels(
    settings: Settings,
    machine: Machine,
    progress: Progress = SILENT,
    resumed: Bundle | None = None,
    given: Sequence[Pair] | None = None,
) -> Prepared:
    """Read the examples, take over or train a tokenizer, and put a head on the model to begin with or a new one."""
    if given is not None:
        raise ConfigError(
            f"Sentence pairs are for the task translate; {settings.task} learns from a table (data.train)."
        )
    sets = gather_examples(settings.data, progress, resumed.facts.get("labels") if resumed else None)
    check_pairs(settings, sets.train[0])
    bundle = resumed or new_label_bundle(settings, sets, machine, progress)
    encoded = {name: encode(examples, bundle, progress) for name, examples in sets.sets.items()}
    for name, each in encoded.items():
        sets.reports[name].cut = int(each.is_cut.sum())
    say_counts(sets, progress)
    if settings.preflight and resumed is None:
        say_oddities(sets, progress)
        _say_cuts(sets, bundle, progress)
    micro_batch = settings.train.micro_batch_tokens or machine.micro_batch_tokens
    learned = encoded["train"]
    tests = {name: ScoredSet(it, encoded[f"test {name}"]) for name, it in sets.tests.items()}
    return Prepared(
        bundle=bundle,
        feed=PairFeed(lambda epoch: learned, settings.train.tokens_per_update, micro_batch, settings.seed, POOL),
        objective=LabelObjective(settings.objective.language_weight),
        width=settings.model.width,
        validate=_validation(bundle, ScoredSet(sets.valid, encoded["valid"]), machine),
        tests=tests or {"valid": ScoredSet(sets.valid, encoded["valid"])},
        facts=_facts(settings, sets, learned, bundle),
    )


def check_pairs(settings: Settings, first: Example) -> None:
    """Refuse to read single texts in both orders."""
    if isinstance(settings, ClassifySettings) and settings.pairs == "both-orders" and len(first[0]) == 1:
        raise ConfigError('pairs: "both-orders" is for two texts an example, and these have one; leave it out.')


def new_label_bundle(settings: Settings, sets: ExampleSets, machine: Machine, progress: Progress) -> Bundle:
    """Return the model to begin with, or a fresh one, under a head and with the tokens it takes to frame texts."""
    start = None if settings.start is None else read_start(settings.start)
    base = start.tokenizers["tokenizer"] if start else _new_tokenizer(settings, sets, progress)
    tokenizer = base.with_special(FRAME_TOKENS)
    new = [tokenizer.number(token) for token in FRAME_TOKENS]
    size = max(tokenizer.size, max(new) + 1, start.vocabularies.target if start else 0)
    vocabularies = Vocabularies(size, size, is_shared=True)
    is_choice = settings.task == "choose"
    head = HeadSettings(
        kind="choices" if is_choice else "labels",
        outputs=1 if is_choice else len(sets.labels),
        dropout=settings.head_dropout,
    )
    check_size(count_parameters(settings.model, vocabularies, head), machine)
    torch.manual_seed(settings.seed)
    model: Any = build_model(settings.model, vocabularies, head)
    if start:
        take_over(model.body, weights_of(start.model), new)
    facts: dict[str, Any] = {"seed": settings.seed, "max_length": _max_length(settings, model.max_positions)}
    if settings.start is not None:
        facts["start"] = {"path": settings.start, "sha256": start_hash(settings.start)}
    if isinstance(settings, ClassifySettings):
        facts |= {"labels": sets.labels, "texts": len(sets.train[0][0]), "pairs": settings.pairs}
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts, head)


def _new_tokenizer(settings: Settings, sets: ExampleSets, progress: Progress) -> Tokenizer:
    if settings.text.tokenizer:
        return Tokenizer.load(Path(settings.text.tokenizer))
    texts = (
        text
        for each in sets.train
        for text in ((each.context, *each.choices) if isinstance(each, Choice) else each.texts)
    )
    return train_tokenizer(texts, settings.text, progress)


def _max_length(settings: Settings, bound: int | None) -> int:
    if settings.max_length is None:
        return bound or USUAL_LENGTH
    if bound is not None and settings.max_length > bound:
        raise ConfigError(
            f"max_length: {settings.max_length:,} tokens are more than the {bound:,} places the model has; lower it."
        )
    return settings.max_length


def _say_cuts(sets: ExampleSets, bundle: Bundle, progress: Progress) -> None:
    part = "the beginning of the context" if bundle.task == "choose" else "the end"
    for name, report in sets.reports.items():
        if report.cut:
            progress.warn(
                f"{name}: {report.cut:,} of {report.kept:,} examples are longer than {bundle.facts['max_length']:,} "
                f"tokens (max_length), and {part} of each is not read."
            )


def _validation(bundle: Bundle, watched: ScoredSet, machine: Machine) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: loss, accuracy, and for labels macro F1."""

    def validate(model: Any) -> dict[str, float]:
        with machine.autocast():
            found = figures_of(model, bundle.facts, watched, "valid", machine.device, machine.micro_batch_tokens)
        return {name: found[name] for name in ("loss", "accuracy", "macro_f1") if found.get(name) is not None}

    return validate


def _facts(settings: Settings, sets: ExampleSets, learned: EncodedExamples, bundle: Bundle) -> dict[str, Any]:
    return {name: report.plain() for name, report in sets.reports.items()} | {
        "files": example_files(settings.data),
        "hash": learned.fingerprint(),
        "texts": len(sets.train[0][0]) if isinstance(settings, ClassifySettings) else 1,
        **({"start": bundle.facts["start"]} if "start" in bundle.facts else {}),
    }
