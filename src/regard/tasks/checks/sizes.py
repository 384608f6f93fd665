"""Checks of sizes against each other: data, model, vocabulary, steps, validation."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from regard.data.cleaning import reason_to_drop
from regard.data.feeds.sampler import plan_updates
from regard.data.sources.pair import Pair
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, graded, percent, shown_pair, some
from regard.text.settings import CorpusTextSettings, TextSettings
from regard.training.settings import TrainSettings

EMPTY: Mapping[str, str] = MappingProxyType({})
FEW_PAIRS = 1000
FEW_WATCHED = 50
SOME_WATCHED = 200
"""Sentences under which a score on a validation set moves by chance alone."""


def size_findings(data: TranslationData) -> list[Finding]:
    """Return which sizes do not fit each other."""
    size = max(tokenizer.size for tokenizer in data.tokenizers)
    found = [*_few(data), *_too_long(data), *vocabulary_findings(data.settings.text, size)]
    return [*found, _parameters(data), *_steps(data), _validation(data)]


def _few(data: TranslationData) -> list[Finding]:
    count = len(data.train)
    if count >= FEW_PAIRS:
        return []
    sentence = f"There are only {count:,} training pairs, too few to learn to translate from."
    return [Finding("sizes", "few-pairs", "warning", sentence, (), "add text", figures={"pairs": count})]


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
    is_bound = data.bundle.model.max_positions == data.max_tokens
    settings = {"data.cleaning.max_tokens": enough} | ({"model.max_positions": enough} if is_bound else {})
    return [
        Finding(
            "sizes",
            "too-long",
            severity,
            f"{count:,} training pairs ({percent(count, report.read)}) are longer than {data.max_tokens} tokens and "
            f"were dropped.",
            some(f"{lengths[row]} tokens: {shown_pair(long[row])}" for row in np.argsort(lengths)),
            "split them into sentences, or allow nine tenths of them",
            settings,
            {"share": count / report.read},
        )
    ]


def vocabulary_findings(text: TextSettings | CorpusTextSettings, size: int) -> list[Finding]:
    """Return whether a vocabulary is much smaller than was asked for."""
    if text.tokenizer or text.kind == "char" or size > 0.7 * text.size:
        return []
    sentence = f"text.size asks for {text.size:,} tokens, but this text has only {size:,}."
    return [Finding("sizes", "vocabulary", "note", sentence, figures={"size": size})]


def _parameters(data: TranslationData) -> Finding:
    parameters = sum(parameter.numel() for parameter in data.bundle.model.parameters())
    tokens = int(data.encoded.target.lengths.sum())
    smaller = "transformer-small" if tokens > 200_000 else "transformer-tiny"
    is_known = data.settings.model.family == "transformer"
    return parameter_finding(parameters, tokens, "target tokens", {"model.preset": smaller} if is_known else {})


def parameter_finding(parameters: int, tokens: int, unit: str, smaller: Mapping[str, str] = EMPTY) -> Finding:
    """Return how many parameters a model has for each token it learns from; `smaller` chooses a smaller one."""
    ratio = parameters / tokens
    severity = graded(ratio, note=60, warning=250)
    facts = f"{parameters:,} parameters learn from {tokens:,} {unit}"
    figures = {"parameters": parameters, "tokens": tokens}
    if severity == "ok":
        return Finding("sizes", "parameters", "ok", f"{facts}.", figures=figures)
    return Finding(
        "sizes",
        "parameters",
        severity,
        f"{facts}, {ratio:,.0f} for each: such a model learns its text by heart.",
        (),
        "take a smaller model, or more dropout",
        smaller if severity == "warning" else {},
        figures,
    )


def _steps(data: TranslationData) -> list[Finding]:
    tokens_per_update = data.settings.train.tokens_per_update
    lengths = data.encoded.source.lengths, data.encoded.target.lengths
    per_epoch = len(plan_updates(*lengths, tokens_per_update, data.settings.seed, 0))
    tokens = int(lengths[1].sum()) if len(data.train) >= FEW_PAIRS else None
    return step_findings(data.settings.train, per_epoch, tokens)


def step_findings(given: TrainSettings, per_epoch: int, tokens: int | None) -> list[Finding]:
    """Return how steps, epochs, warm-up and validations fit; `tokens` make an epoch (None: too few to speak of)."""
    train = given.planned(per_epoch)
    epochs = train.steps / per_epoch
    figures = {"updates_per_epoch": per_epoch, "epochs": epochs}
    found = [_epochs(epochs, train.patience, figures)]
    if per_epoch < 10 and tokens is not None:
        sentence = f"An update takes {percent(1, per_epoch)} of the training set: an epoch has only {per_epoch}."
        smaller = {"train.tokens_per_update": max(256, tokens // 50)}
        found.append(
            Finding("sizes", "update", "note", sentence, (), "have more and smaller updates", smaller, figures)
        )
    if train.schedule != "constant" and train.warmup >= 0.5 * train.steps:
        found.append(
            Finding(
                "sizes",
                "warmup",
                "warning",
                f"The warm-up takes {train.warmup:,} of {train.steps:,} updates, so the rate "
                f"{'never reaches' if train.warmup >= train.steps else 'is hardly ever at'} its peak.",
                (),
                "climb faster",
                {"train.warmup": max(1, train.steps // 10)},
            )
        )
    if train.validate_every > train.steps:
        found.append(
            Finding(
                "sizes",
                "validations",
                "note",
                f"Only the last of {train.steps:,} updates is validated, so no better checkpoint can be chosen.",
                (),
                "look more often",
                {"train.validate_every": max(1, train.steps // 10)},
            )
        )
    return found


def _epochs(epochs: float, patience: int, figures: dict[str, float]) -> Finding:
    facts = f"{figures['updates_per_epoch']:,} updates make an epoch; the run has {epochs:,.1f} epochs"
    if epochs < 0.5:
        whole = {"train.steps": int(figures["updates_per_epoch"])}
        sentence = f"{facts} and never sees most of the text."
        return Finding("sizes", "epochs", "note", sentence, (), "see everything once", whole, figures)
    if epochs > 300 and not patience:
        sentence = f"{facts} and will learn its text by heart."
        return Finding(
            "sizes", "epochs", "warning", sentence, (), "stop when it is enough", {"train.patience": 8}, figures
        )
    until = ", or fewer when validation no longer improves" if patience else ""
    return Finding("sizes", "epochs", "ok", f"{facts}{until}.", figures=figures)


def _validation(data: TranslationData) -> Finding:
    count = len(data.valid)
    return watched_finding(data.settings.data, count, len(data.train) + count, "pairs", (FEW_WATCHED, SOME_WATCHED))


def watched_finding(
    data: Any, watched: int, everything: int, what: str, bounds: tuple[int, int], more: str | None = None
) -> Finding:
    """Return whether enough is watched while training; below the bounds it is too little, or rather little."""
    few, enough = bounds
    severity = "ok" if watched >= enough else "note" if watched >= few else "warning"
    figures = {what: watched}
    if severity == "ok":
        sentence = f"{watched:,} {what} are watched while training."
        return Finding("sizes", "validation", "ok", sentence, figures=figures)
    share = round(min(0.2, enough / everything), 3)
    can_carve = data.valid is None and share > data.valid_fraction
    return Finding(
        "sizes",
        "validation",
        severity,  # type: ignore[arg-type]
        f"Only {watched:,} {what} are watched while training: which checkpoint is best is partly chance.",
        (),
        "set more apart" if can_carve else f"watch more {more or what}",
        {"data.valid_fraction": share} if can_carve else {},
        figures,
    )
