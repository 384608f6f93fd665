"""Preparation of a fine-tuning run: examples, a pretrained or new model with a head, and what the loop needs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.templates import FRAME_TOKENS
from regard.data.feeds.feed import PairFeed
from regard.errors import ConfigError
from regard.models.base.settings import HeadSettings, ModelSettings, Vocabularies
from regard.models.families import family, is_bidirectional
from regard.models.heads import POOLED_KINDS, load_matching_weights
from regard.objectives.head import HeadObjective
from regard.progress import Progress
from regard.tasks.data import EvalSet, Prepared, scorings
from regard.tasks.declarations import Context
from regard.tasks.finetune.adapting import adapt, class_weights
from regard.tasks.finetune.data import (
    AnyHeadTask,
    ExampleSets,
    check_sets,
    example_files,
    gather_examples,
    report_counts,
    warn_of_labels,
    warn_of_truncation,
)
from regard.tasks.finetune.extra_vectors import ExtraVectors, read_extra_vectors
from regard.tasks.finetune.predictions import EncodedRows
from regard.tasks.finetune.records import ExampleReportRecord, HeadFacts
from regard.tasks.finetune.settings import FineTuneSettings, Pooling
from regard.tasks.finetune.word_body import word_body
from regard.tasks.init_from import body_weights, origin_facts, origin_hash, pretrained_embeds
from regard.tasks.model_size import new_model
from regard.text.tokenizer import Tokenizer
from regard.text.training import train_tokenizer
from regard.training.device.machine import Machine

Settings = FineTuneSettings[ModelSettings]

MIN_LENGTH = 8
"""Minimum maximum length of a sequence in tokens."""
DEFAULT_LENGTH, DEFAULT_CHARACTERS = 512, 4096
"""Maximum tokens of a sequence for a model without a bound, and characters for an ELMo."""
BILSTM_WIDTH = 64
"""Default width in each direction of the BiLSTM over an ELMo or word vectors."""
LM_WEIGHT = 0.5
"""Default weight of a language model's next-token loss beside the label's (Radford et al., 2018, §4.1)."""
POOL = 4
"""Updates whose examples are sorted by length together: few, because lengths may correlate with labels, and an update
should mix them. Encoders have no padding, so theirs are not sorted."""


def load_examples(task: AnyHeadTask, settings: Settings, context: Context) -> ExampleSets:
    """Return the examples of all sets; tokens are those of a model, so they are encoded for each."""
    known = task.read_facts(context.resumed).known_labels if context.resumed else None
    sets = gather_examples(task, settings.data, context.progress, known)
    report_counts(task, sets, context.progress)
    if settings.preflight and context.resumed is None:
        warn_of_labels(task, sets, context.progress)
    return sets


def build_bundle(task: AnyHeadTask, settings: Settings, sets: ExampleSets, context: Context) -> Bundle:
    """Return the model with its head to train, resumed or new; sets that do not fit its labels are refused."""
    if context.resumed:
        bundle = context.resumed
        check_sets(task, sets, task.read_facts(bundle))
    else:
        bundle = _new_bundle(task, settings, sets, context)
    adapt(bundle, settings, context.progress)
    return bundle


def prepare_examples(
    task: AnyHeadTask, settings: Settings, sets: ExampleSets, bundle: Bundle, context: Context
) -> Prepared[ExampleSets]:
    """Return encoded examples as updates, objective, validation, test sets and report."""
    machine, progress, facts = context.machine, context.progress, task.read_facts(bundle)
    encoded = {name: task.encode(examples, bundle, progress) for name, examples in sets.sets.items()}
    for name, each in encoded.items():
        sets.reports[name].truncated = int(each.is_truncated.sum())
    if settings.preflight and context.resumed is None:
        warn_of_truncation(task, sets, facts.max_length, progress)
    valid = EvalSet("valid", sets.valid, encoded=encoded["valid"])
    tests = {name: EvalSet(name, rows, encoded=encoded[f"test {name}"]) for name, rows in sets.tests.items()}
    report = ExampleReportRecord.model_validate(
        {name: each.plain() for name, each in sets.reports.items()}
        | {
            "files": example_files(settings.data),
            "hash": encoded["train"].fingerprint(),
            "texts": bundle.facts.get("texts", 1),
        }
        | origin_facts(bundle)
    )
    weights = class_weights(task, settings, encoded["train"], task.outputs(facts), machine)
    return Prepared(
        bundle=bundle,
        feed=_feed(settings, encoded["train"], machine),
        objective=HeadObjective(_lm_weight(settings), task.losses, weights),
        width=settings.model.width,
        validate=_validation(task, settings, bundle, valid, machine),
        tests=tests or {"valid": valid},
        report=report,
        data=sets,
        baseline=task.baseline(sets.valid, encoded["valid"]),
        scorings=scorings(sum(map(len, sets.tests.values())) or len(sets.valid), len(sets.valid)),
    )


def _is_encoder(settings: Settings) -> bool:
    return is_bidirectional(settings.model.family)


def _feed(settings: Settings, rows: EncodedRows, machine: Machine) -> PairFeed:
    """Return the feed of updates, whose size is in examples or in tokens."""
    train = settings.train
    micro_batch = train.micro_batch_tokens or machine.micro_batch_tokens
    pool = 1 if _is_encoder(settings) else POOL
    examples = train.examples_per_update
    size = train.tokens_per_update if examples is None else examples
    return PairFeed(lambda epoch: rows, size, micro_batch, settings.seed, pool, examples is not None)


def _lm_weight(settings: Settings) -> float:
    """Return the weight of the next-token loss beside the label's; a bidirectional model has none."""
    given = settings.objective.lm_weight
    if not _is_encoder(settings):
        return LM_WEIGHT if given is None else float(given)
    if given:
        raise ConfigError(
            f"objective.lm_weight: {given} is for language models; a text encoder attends to the next token, "
            f"so leave it out."
        )
    return 0.0


def _new_bundle(task: AnyHeadTask, settings: Settings, sets: ExampleSets, context: Context) -> Bundle:
    """Return a pretrained or new model with a head, and its tokenizer with the special tokens around texts."""
    kind = family(settings.model.family).kind
    if kind == "bidirectional-lm" and settings.init_from is None:
        raise ConfigError(
            f"init_from: {settings.task} starts from a pretrained ELMo; give --init-from RUN (regard train elmo "
            f"makes one)."
        )
    progress = context.progress
    pretrained, extra = _pretrained_parts(task, settings, sets, context)
    facts: dict[str, Any] = {"seed": settings.seed}
    facts |= task.learn(settings, sets.train, sets.labels, pretrained)
    learned = task.facts.model_validate({"max_length": MIN_LENGTH, **facts})
    check_sets(task, sets, learned)
    base = pretrained.tokenizers["tokenizer"] if pretrained else _new_tokenizer(task, settings, sets, progress)
    is_encoder = _is_encoder(settings)
    tokenizer = base if is_encoder else base.with_special(FRAME_TOKENS)
    new = [] if is_encoder else [tokenizer.token_id(token) for token in FRAME_TOKENS if not base.has(token)]
    size = max(tokenizer.size, *(number + 1 for number in new), pretrained.vocabularies.target if pretrained else 0)
    is_elmo = kind == "bidirectional-lm"
    vocabularies = pretrained.vocabularies if is_elmo and pretrained else Vocabularies(size, size, is_shared=True)
    head = _head(task, settings, learned, pretrained, extra)
    model = new_model(settings, vocabularies, context.machine, head)
    if pretrained:
        load_matching_weights(model.body, body_weights(pretrained), new)
    if extra:
        extra.fill(model.beside)
        facts |= {"extra_vectors": extra.facts}
    if settings.init_from is not None:
        facts |= {"init_from": {"path": settings.init_from, "sha256": origin_hash(settings.init_from)}}
    if sets.reports["train"].columns:
        facts |= {"columns": sets.reports["train"].columns}
    trained = pretrained.facts.get("length") if pretrained else None
    facts |= {"max_length": _max_length(settings, model.max_positions, trained)}
    words = {"words": pretrained.tokenizers["words"]} if is_elmo and pretrained else {}
    return Bundle(settings.task, model, settings.model, vocabularies, {"tokenizer": tokenizer, **words}, facts, head)


def _pretrained_parts(
    task: AnyHeadTask, settings: Settings, sets: ExampleSets, context: Context
) -> tuple[Bundle | None, ExtraVectors | None]:
    """Return the pretrained model and the extra word vectors, None where there are none."""
    progress = context.progress
    train, texts = (
        [text for examples in given for each in examples for text in task.vocabulary(each)]
        for given in ([sets.train], sets.sets.values())
    )
    if family(settings.model.family).kind == "embeddings":
        pretrained: Bundle | None = word_body(settings, train, texts, progress)
    else:
        pretrained = context.pretrained
    if settings.extra_vectors is not None:
        return pretrained, read_extra_vectors(settings, settings.extra_vectors, pretrained, train, texts, progress)
    if pretrained and pretrained.head and pretrained.head.extra_vectors:
        progress.info(
            f"{settings.init_from}: its extra word vectors are left out with its head; extra_vectors=FILE gives some."
        )
    return pretrained, None


def _head(
    task: AnyHeadTask,
    settings: Settings,
    facts: HeadFacts,
    pretrained: Bundle | None,
    extra: ExtraVectors | None,
) -> HeadSettings:
    """Return the settings of the head, with the scalar mix of layers and the BiLSTM below it, if any."""
    kind = family(settings.model.family).kind
    if settings.freeze_body and settings.init_from is None:
        raise ConfigError("freeze_body: there is no pretrained model to freeze; give --init-from, or leave it out.")
    if settings.bilstm_width and not _is_encoder(settings):
        raise ConfigError("bilstm_width: a BiLSTM is for bidirectional models; leave it out.")
    head = task.head_settings(facts, settings.head_dropout, _pooling(task, settings, pretrained))
    if head.kind == "similarity":
        if extra:
            raise ConfigError(f"extra_vectors: {settings.extra_vectors} does not go with a bi-encoder; leave it out.")
        return head
    default = BILSTM_WIDTH if kind in ("bidirectional-lm", "embeddings") else 0
    more = {
        "extra_vectors": extra and extra.settings,
        "is_mixed": kind == "bidirectional-lm",
        "freeze_body": kind == "bidirectional-lm" if settings.freeze_body is None else settings.freeze_body,
        "bilstm_width": default if settings.bilstm_width is None else settings.bilstm_width,
    }
    return head.model_copy(update=more)


def _pooling(task: AnyHeadTask, settings: Settings, pretrained: Bundle | None) -> Pooling:
    """Return the pooling of a text's states: the user's, or else the pretrained model's."""
    if not _is_encoder(settings):
        if settings.pooling in ("mean", "max"):
            raise ConfigError(
                f'pooling: "{settings.pooling}" is for text encoders; only the last token of a causal model attends '
                f"to all others, so leave it out."
            )
        return "token"
    default: Pooling = "token"
    if pretrained_embeds(pretrained):
        default = "mean"
    if family(settings.model.family).kind in ("bidirectional-lm", "embeddings") or settings.bilstm_width:
        default = "mean" if settings.bilstm_width == 0 else "max"
    return (settings.pooling or default) if task.head in POOLED_KINDS else "token"


def _new_tokenizer(task: AnyHeadTask, settings: Settings, sets: ExampleSets, progress: Progress) -> Tokenizer:
    if settings.text.tokenizer:
        return Tokenizer.load(Path(settings.text.tokenizer))
    texts = dict.fromkeys(text for each in sets.train for text in task.vocabulary(each))
    return train_tokenizer(texts, settings.text, progress)


def _max_length(settings: Settings, bound: int | None, trained: int | None) -> int:
    """Return the maximum length of a sequence: the user's, or else the length the model was `trained` on."""
    wanted = settings.max_length
    if bound is not None and bound < MIN_LENGTH:
        raise ConfigError(
            f"model.max_positions: {bound} positions leave no room for a text between special tokens; {MIN_LENGTH} "
            f"are needed."
        )
    limits = [each for each in (bound, trained) if each is not None]
    if wanted is None:
        is_elmo = family(settings.model.family).kind == "bidirectional-lm"
        return min(limits, default=DEFAULT_CHARACTERS if is_elmo else DEFAULT_LENGTH)
    if wanted == type(settings).model_fields["max_length"].default:  # the task's default
        return min([wanted, *limits])
    if bound is not None and wanted > bound:
        raise ConfigError(
            f"max_length: {wanted:,} tokens are more than the {bound:,} positions of the model; lower it."
        )
    return wanted


def _validation(
    task: AnyHeadTask, settings: Settings, bundle: Bundle, valid: EvalSet, machine: Machine
) -> Callable[[Any], dict[str, float]]:
    """Return the validation function of the training loop: it computes the loss and the metrics of the task."""
    limit = machine.micro_batch_tokens
    keys = [metric.key for metric in task.metrics_of(settings) if metric.is_validated]

    def validate(model: Any) -> dict[str, float]:
        with machine.autocast():
            predictions = task.predict(bundle, model, valid.rows, valid.encoded, machine.device, limit)
        predictions = task.calibrate(valid.rows, predictions, bundle)
        metrics = task.compute_metrics(valid.rows, predictions, task.read_facts(bundle))
        return {"loss": predictions.loss} | {key: float(metrics[key]) for key in keys}

    return validate
