"""Preparation of a language model's run: text tokenized, the model built."""

from collections.abc import Callable
from typing import Any

import torch

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.corpus.splits import check_held_out, tokenize_all
from regard.data.feeds.windows import WindowFeed
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model, count_parameters
from regard.objectives.language_model import LanguageObjective
from regard.progress import SILENT, Progress
from regard.tasks.baseline import token_baseline
from regard.tasks.data import Prepared, TextTaskData, scorings
from regard.tasks.declarations import Context
from regard.tasks.embedding_init import fill_embeddings, freeze_embeddings
from regard.tasks.init_from import load_pretrained, origin_facts, pretrained_bundle
from regard.tasks.language_model.evaluate import DEFAULT_WINDOW, text_loss
from regard.tasks.language_model.settings import LanguageSettings
from regard.tasks.model_size import check_size
from regard.tasks.text.corpora import corpora_report, corpus_eval_sets, corpus_folder
from regard.tasks.text.records import TextReport
from regard.tasks.text.tokenizer import corpus_tokenizer
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

Settings = LanguageSettings[ModelSettings]
STRIDED = 3.0
"""Time of the final scores of a token, in overlapping windows, as a multiple of its validation."""


def prepare_language(settings: Settings, context: Context) -> Prepared[TextTaskData]:
    """Tokenize the text (or take it as it was tokenized before), and build the model."""
    machine, progress, resumed = context.machine, context.progress, context.resumed
    if resumed is None:
        check_held_out(settings.data)
    folder = corpus_folder(settings.data, settings.text, settings.init_from)
    pretrained = pretrained_bundle(settings.init_from, resumed)
    known = resumed or pretrained
    tokenizer = (
        known.tokenizers["tokenizer"]
        if known
        else corpus_tokenizer(settings.data.train, settings.text, folder, progress)
    )
    corpora = tokenize_all(settings.data, tokenizer, folder, progress)
    bundle = resumed or new_language_bundle(settings, tokenizer, machine, progress, pretrained)
    freeze_embeddings(bundle.model, bundle.tokenizers, settings.vectors)
    window = window_of(settings, bundle.model)
    train = settings.train
    micro_batch = train.micro_batch_tokens or machine.micro_batch_tokens
    feed = WindowFeed(corpora.train, window, train.tokens_per_update, micro_batch, settings.seed)
    tests = corpora.test or {"valid": corpora.valid}
    validated = min(len(corpora.valid), settings.validation.tokens)
    return Prepared(
        bundle=bundle,
        feed=feed,
        objective=LanguageObjective(settings.objective.label_smoothing),
        width=settings.model.width,
        validate=_validation(corpora.valid, tokenizer, window, settings, machine),
        tests=corpus_eval_sets(tests, settings.data, tokenizer),
        report=TextReport.model_validate(
            corpora_report(corpora) | {"window": window, "folder": str(folder)} | origin_facts(bundle)
        ),
        data=TextTaskData(settings, corpora, bundle, window, feed.updates_in(epoch=0)),
        baseline=token_baseline(corpora.valid.read(0, validated)),
        scorings=scorings(sum(map(len, tests.values())), validated, STRIDED),
    )


def new_language_bundle(
    settings: Settings,
    tokenizer: Tokenizer,
    machine: Machine,
    progress: Progress = SILENT,
    pretrained: Bundle | None = None,
) -> Bundle:
    """Return a new model with its tokenizer, or the pretrained one; a model too large to train is refused."""
    size = pretrained.vocabularies.target if pretrained else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    check_size(count_parameters(settings.model, vocabularies), machine)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, vocabularies)
    facts = {
        "generate": settings.generate.model_dump(mode="json"),
        "seed": settings.seed,
        "window": window_of(settings, model),
    }
    facts |= fill_embeddings(model, {"tokenizer": tokenizer}, settings.vectors, progress)
    if pretrained:
        facts |= load_pretrained(model, pretrained, settings.init_from)
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def window_of(settings: Settings, model: Any) -> int:
    """Return the context window in tokens."""
    bound: int | None = model.max_positions
    if settings.window is None:
        return bound or DEFAULT_WINDOW
    if bound is not None and settings.window > bound:
        raise ConfigError(
            f"window: {settings.window:,} tokens are more than the {bound:,} positions of the model; lower it, or "
            f"raise model.max_positions."
        )
    return settings.window


def _validation(
    valid: Corpus, tokenizer: Tokenizer, window: int, settings: Settings, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the function the loop validates with: the loss of the same text each time."""
    count = min(settings.validation.tokens, len(valid))

    def validate(model: Any) -> dict[str, float]:
        measured = text_loss(model, valid, tokenizer.eos_id, window, window, machine, count)
        return {"loss": measured.loss, "perplexity": measured.perplexity}

    return validate
