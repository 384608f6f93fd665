"""Checks of the sizes of text, model, vocabulary and training against each other, for models of running text."""

from regard.tasks.checks.sizes import parameter_finding, step_findings, validation_finding, vocabulary_findings
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding

FEW_TOKENS = 100_000
FEW_VALID, SOME_VALID = 2_000, 10_000
"""Validation tokens below which the loss is very noisy, and rather noisy."""


def text_size_findings(data: TextTaskData) -> list[Finding]:
    """Return the findings on sizes."""
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
    metrics = {"tokens": tokens, "window": data.window}
    if tokens <= data.window:
        sentence = f"The whole text has {tokens:,} tokens, less than a window of {data.window:,}."
        return [Finding("sizes", "few-tokens", "warning", sentence, (), "add text", metrics=metrics)]
    if tokens < FEW_TOKENS:
        sentence = f"There are only {tokens:,} training tokens, too few for a model that generalizes."
        return [Finding("sizes", "few-tokens", "note", sentence, (), "add text", metrics=metrics)]
    return []


def _validation(data: TextTaskData) -> Finding:
    validated = min(len(data.corpora.valid), data.settings.validation.tokens)
    everything = len(data.corpora.train) + len(data.corpora.valid)
    return validation_finding(
        data.settings.data, validated, everything, "tokens", (FEW_VALID, SOME_VALID), more="text"
    )
