"""Checks of the sizes of data, model, vocabulary, training and validation set against each other."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from regard.data.cleaning import reason_to_drop
from regard.data.feeds.sampler import plan_updates
from regard.data.settings.pairs import PairData
from regard.data.settings.text import TextData
from regard.data.sources.pair import Pair
from regard.models.families import count_parameters, position_limit
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, Severity, graded, percent, shown_pair, some
from regard.text.settings import CorpusTextSettings, TextSettings
from regard.training.settings import TrainSettings

EMPTY: Mapping[str, str] = MappingProxyType({})
FEW_PAIRS = 1000
FEW_VALID, SOME_VALID = 50, 200
"""Validation pairs below which scores are very noisy, and rather noisy."""


def size_findings(data: TranslationData) -> list[Finding]:
    """Return the findings on sizes."""
    size = max(tokenizer.size for tokenizer in data.tokenizers)
    return [
        *_few(data),
        *_too_long(data),
        *vocabulary_findings(data.settings.text, size),
        _parameters(data),
        *_steps(data),
        _validation(data),
    ]


def _few(data: TranslationData) -> list[Finding]:
    count = len(data.train)
    if count >= FEW_PAIRS:
        return []
    sentence = f"There are only {count:,} training pairs, too few to train a translator."
    return [Finding("sizes", "few-pairs", "warning", sentence, (), "add text", metrics={"pairs": count})]


def _too_long(data: TranslationData) -> list[Finding]:
    report, cleaning = data.reports["train"], data.settings.data.cleaning
    count = report.dropped["too long"]
    severity = graded(count / report.read, note=0.001, warning=0.02, problem=0.3)
    if severity == "ok":
        return []
    kept = {*data.train, *data.valid}
    stripped = [Pair(pair.source.strip(), pair.target.strip()) for pair in data.raw.train]
    long = [pair for pair in stripped if pair not in kept and reason_to_drop(pair, cleaning) is None]
    sides = [tokenizer.encode_batch([pair[side] for pair in long]) for side, tokenizer in enumerate(data.tokenizers)]
    lengths = np.array([1 + max(len(source), len(target)) for source, target in zip(*sides)])
    enough = int(np.ceil(np.quantile(lengths, 0.9) / 16)) * 16
    is_bound = position_limit(data.settings.model, data.vocabularies) == data.max_tokens
    settings = {"data.cleaning.max_tokens": enough} | ({"model.max_positions": enough} if is_bound else {})
    return [
        Finding(
            "sizes",
            "too-long",
            severity,
            f"{count:,} training pairs ({percent(count, report.read)}) are longer than {data.max_tokens} tokens and "
            f"were dropped.",
            some(f"{lengths[row]} tokens: {shown_pair(long[row])}" for row in np.argsort(lengths)),
            "split them into sentences, or raise the limit to keep 90 % of them",
            settings,
            {"fraction": count / report.read},
        )
    ]


def vocabulary_findings(text: TextSettings | CorpusTextSettings, size: int) -> list[Finding]:
    """Return a note where a vocabulary is much smaller than text.size."""
    if text.tokenizer or text.kind == "char" or size > 0.7 * text.size:
        return []
    sentence = f"text.size asks for {text.size:,} tokens, but a vocabulary trained on this text has only {size:,}."
    return [Finding("sizes", "vocabulary", "note", sentence, metrics={"size": size})]


def _parameters(data: TranslationData) -> Finding:
    parameters = count_parameters(data.settings.model, data.vocabularies)
    tokens = int(data.encoded.target.lengths.sum())
    smaller = "transformer-small" if tokens > 200_000 else "transformer-tiny"
    is_known = data.settings.model.family == "transformer"
    return parameter_finding(parameters, tokens, "target tokens", {"model.preset": smaller} if is_known else {})


def parameter_finding(parameters: int, tokens: int, unit: str, smaller: Mapping[str, str] = EMPTY) -> Finding:
    """Return the ratio of parameters to training tokens; `smaller` has the settings of a smaller model."""
    ratio = parameters / tokens
    severity = graded(ratio, note=60, warning=250)
    sizes = f"{parameters:,} parameters are trained on {tokens:,} {unit}"
    metrics = {"parameters": parameters, "tokens": tokens}
    if severity == "ok":
        return Finding("sizes", "parameters", "ok", f"{sizes}.", metrics=metrics)
    return Finding(
        "sizes",
        "parameters",
        severity,
        f"{sizes}, {ratio:,.0f} per token: such a model overfits.",
        (),
        "choose a smaller model, or raise dropout",
        smaller if severity == "warning" else {},
        metrics,
    )


def _steps(data: TranslationData) -> list[Finding]:
    tokens_per_update = data.settings.train.tokens_per_update
    lengths = data.encoded.source.lengths, data.encoded.target.lengths
    per_epoch = len(plan_updates(*lengths, tokens_per_update, data.settings.seed, 0))
    tokens = int(lengths[1].sum()) if len(data.train) >= FEW_PAIRS else None
    return step_findings(data.settings.train, per_epoch, tokens)


def step_findings(settings: TrainSettings, per_epoch: int, tokens: int | None) -> list[Finding]:
    """Return the findings on steps, epochs, warm-up and validations.

    `tokens` are those of an epoch; None: there are too few for advice on the size of updates.
    """
    train = settings.planned(per_epoch)
    findings = [_epochs(train, per_epoch)]
    if per_epoch < 10 and tokens is not None:
        sentence = f"An update takes {percent(1, per_epoch)} of the training set: an epoch has only {per_epoch}."
        smaller = {"train.tokens_per_update": max(256, tokens // 50)}
        findings.append(
            Finding("sizes", "update", "note", sentence, (), "make updates smaller", smaller, findings[0].metrics)
        )
    if train.is_open:
        return findings
    if train.schedule != "constant" and train.warmup >= 0.5 * train.steps:
        findings.append(
            Finding(
                "sizes",
                "warmup",
                "warning",
                f"The warm-up takes {train.warmup:,} of {train.steps:,} updates, so the learning rate "
                f"{'never reaches' if train.warmup >= train.steps else 'is hardly ever at'} its peak.",
                (),
                "shorten the warm-up",
                {"train.warmup": max(1, train.steps // 10)},
            )
        )
    if train.validate_every > train.steps:
        findings.append(
            Finding(
                "sizes",
                "validations",
                "note",
                f"Only the last of {train.steps:,} updates is validated, so there is no choice of checkpoints.",
                (),
                "validate more often",
                {"train.validate_every": max(1, train.steps // 10)},
            )
        )
    return findings


def _epochs(train: TrainSettings, per_epoch: int) -> Finding:
    metrics: dict[str, float] = {"updates_per_epoch": per_epoch}
    if train.is_open:
        sentence = f"{per_epoch:,} updates make an epoch; the run ends after {train.minutes:g} minutes."
        return Finding("sizes", "epochs", "ok", sentence, metrics=metrics)
    epochs = metrics["epochs"] = train.steps / per_epoch
    limit = "at most " if train.ends_itself else ""
    length = f"{per_epoch:,} updates make an epoch; the run has {limit}{epochs:,.1f} epochs"
    if epochs < 0.5:
        whole = {"train.steps": per_epoch}
        sentence = f"{length} and leaves out most of the text."
        return Finding("sizes", "epochs", "note", sentence, (), "train for one epoch", whole, metrics)
    if epochs > 300 and not (train.patience or train.ends_itself):
        sentence = f"{length} and will overfit."
        return Finding("sizes", "epochs", "warning", sentence, (), "stop early", {"train.patience": 8}, metrics)
    until = ", or fewer when validation no longer improves" if train.patience else ""
    return Finding("sizes", "epochs", "ok", f"{length}{until}.", metrics=metrics)


def _validation(data: TranslationData) -> Finding:
    count = len(data.valid)
    return validation_finding(data.settings.data, count, len(data.train) + count, "pairs", (FEW_VALID, SOME_VALID))


def validation_finding(
    data: PairData | TextData,
    validated: int,
    everything: int,
    what: str,
    bounds: tuple[int, int],
    more: str | None = None,
) -> Finding:
    """Return the finding on the size of the validation set; `bounds`: very small, rather small."""
    few, enough = bounds
    severity: Severity = "ok" if validated >= enough else "note" if validated >= few else "warning"
    metrics = {what: validated}
    if severity == "ok":
        sentence = f"{validated:,} {what} are used for validation."
        return Finding("sizes", "validation", "ok", sentence, metrics=metrics)
    fraction = round(min(0.2, enough / everything), 3)
    can_hold_out = data.valid is None and fraction > data.valid_fraction
    return Finding(
        "sizes",
        "validation",
        severity,
        f"Only {validated:,} {what} are used for validation: the choice of the best checkpoint is noisy.",
        (),
        "hold out more" if can_hold_out else f"validate on more {more or what}",
        {"data.valid_fraction": fraction} if can_hold_out else {},
        metrics,
    )
