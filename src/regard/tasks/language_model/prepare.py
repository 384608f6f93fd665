"""Preparation of a language model's run on running text: the model built, and what the loop needs."""

from collections.abc import Callable, Sequence
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.corpus.corpus import Corpus
from regard.data.feeds.windows import WindowFeed
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import position_limit
from regard.objectives.language_model import LanguageObjective
from regard.tasks.baseline import token_baseline
from regard.tasks.checks.text_sizes import text_size_findings
from regard.tasks.data import Prepared, TextTaskData, scorings
from regard.tasks.declarations import Context
from regard.tasks.embedding_init import fill_embeddings, freeze_embeddings
from regard.tasks.findings import Finding
from regard.tasks.init_from import check_tokenizers, load_pretrained, origin_facts
from regard.tasks.language_model.evaluate import DEFAULT_WINDOW, text_loss
from regard.tasks.language_model.settings import LanguageSettings
from regard.tasks.model_size import new_model
from regard.tasks.text.corpora import corpora_report, corpus_eval_sets
from regard.tasks.text.records import TextReport
from regard.text.tokenizer import Tokenizer
from regard.training.device.machine import Machine

Settings = LanguageSettings[ModelSettings]
STRIDED = 3.0
"""Time of the final scores of a token, in overlapping windows, as a multiple of its validation."""


def build_bundle(settings: Settings, tokenizer: Tokenizer, context: Context) -> Bundle:
    """Return the language model to train: resumed, pretrained or new."""
    check_tokenizers({"tokenizer": tokenizer}, context, settings.init_from)
    bundle = context.resumed or new_language_bundle(settings, tokenizer, context)
    freeze_embeddings(bundle.model, bundle.tokenizers, settings.vectors)
    return bundle


def prepare_text(settings: Settings, data: TextTaskData, bundle: Bundle, machine: Machine) -> Prepared[TextTaskData]:
    """Return windows of the text, objective, validation, test sets and report."""
    corpora, tokenizer = data.corpora, data.tokenizer
    window = window_of(settings, bundle.model.max_positions)
    return Prepared(
        bundle=bundle,
        feed=_feed(settings, data, window, settings.train.micro_batch_tokens or machine.micro_batch_tokens),
        objective=LanguageObjective(settings.objective.label_smoothing),
        width=settings.model.width,
        validate=_validation(corpora.valid, tokenizer, window, settings, machine),
        tests=corpus_eval_sets(data.tests, settings.data, tokenizer),
        report=TextReport.model_validate(
            corpora_report(corpora) | {"window": window, "folder": str(data.folder)} | origin_facts(bundle)
        ),
        data=data,
        baseline=token_baseline(corpora.valid.read(0, data.validated)),
        scorings=scorings(sum(map(len, data.tests.values())), data.validated, STRIDED),
    )


def common_window(members: Sequence[Settings]) -> dict[str, int]:
    """Return the setting with which all members of a race are trained on the same windows."""
    windows = []
    for each in members:
        bound = position_limit(each.model, Vocabularies(8, 8, is_shared=True))
        windows.append(min(each.window or bound or DEFAULT_WINDOW, bound or each.window or DEFAULT_WINDOW))
    return {"window": min(windows)}


def _feed(settings: Settings, data: TextTaskData, window: int, limit: int) -> WindowFeed:
    return WindowFeed(data.corpora.train, window, settings.train.tokens_per_update, limit, settings.seed)


def size_findings(data: TextTaskData) -> list[Finding]:
    """Return the findings on the sizes of text, model and training."""
    settings = data.settings
    assert isinstance(settings, LanguageSettings)
    window = window_of(settings, position_limit(settings.model, data.vocabularies))
    return text_size_findings(data, window, _feed(settings, data, window, window).updates_in(epoch=0))


def new_language_bundle(settings: Settings, tokenizer: Tokenizer, context: Context) -> Bundle:
    """Return a new model with its tokenizer, or the pretrained one; a model too large to train is refused."""
    pretrained = context.pretrained
    size = pretrained.vocabularies.target if pretrained else tokenizer.size
    vocabularies = Vocabularies(size, size, is_shared=True)
    model = new_model(settings, vocabularies, context.machine)
    facts = {
        "generate": settings.generate.model_dump(mode="json"),
        "seed": settings.seed,
        "window": window_of(settings, model.max_positions),
    }
    facts |= fill_embeddings(model, {"tokenizer": tokenizer}, settings.vectors, context.progress)
    if pretrained:
        facts |= load_pretrained(model, pretrained, settings.init_from)
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer}, facts)


def window_of(settings: Settings, bound: int | None) -> int:
    """Return the context window in tokens; `bound` is the model's maximum."""
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
