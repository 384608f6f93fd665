"""Checks of sizes against each other, for models of running text."""

from regard.tasks.checks.sizes import parameter_finding, step_findings, vocabulary_findings, watched_finding
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding

FEW_TOKENS = 100_000
FEW_WATCHED, SOME_WATCHED = 2_000, 10_000
"""Tokens under which the loss of a validation text is partly chance."""


def text_size_findings(data: TextTaskData) -> list[Finding]:
    """Return which sizes do not fit each other."""
    tokens = len(data.corpora.train)
    settings = data.settings
    parameters = sum(parameter.numel() for parameter in data.bundle.model.parameters())
    return [
        *_few(data, tokens),
        *vocabulary_findings(settings.text, data.tokenizer.size),
        parameter_finding(parameters, tokens, "tokens"),
        *step_findings(settings.train, data.per_epoch, tokens if tokens >= FEW_TOKENS else None),
        _validation(data),
    ]


def _few(data: TextTaskData, tokens: int) -> list[Finding]:
    figures = {"tokens": tokens, "window": data.window}
    if tokens <= data.window:
        sentence = f"The whole text has {tokens:,} tokens, less than a window of {data.window:,}."
        return [Finding("sizes", "few-tokens", "warning", sentence, (), "add text", figures=figures)]
    if tokens < FEW_TOKENS:
        sentence = f"There are only {tokens:,} tokens to learn from, too few for more than their own words."
        return [Finding("sizes", "few-tokens", "note", sentence, (), "add text", figures=figures)]
    return []


def _validation(data: TextTaskData) -> Finding:
    watched = min(len(data.corpora.valid), data.settings.validation.tokens)
    everything = len(data.corpora.train) + len(data.corpora.valid)
    return watched_finding(
        data.settings.data, watched, everything, "tokens", (FEW_WATCHED, SOME_WATCHED), more="text"
    )
