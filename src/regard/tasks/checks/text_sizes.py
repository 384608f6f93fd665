"""Checks of the sizes of text, model, vocabulary and training against each other, for models of running text."""

from regard.models.families import count_parameters
from regard.tasks.checks.sizes import parameter_finding, step_findings, validation_finding, vocabulary_findings
from regard.tasks.data import TextTaskData
from regard.tasks.findings import Finding

FEW_TOKENS = 100_000
FEW_VALID, SOME_VALID = 2_000, 10_000
"""Validation tokens below which the loss is very noisy, and rather noisy."""


def text_size_findings(data: TextTaskData, window: int, per_epoch: int) -> list[Finding]:
    """Return the findings on sizes: of the text, the model, its window in tokens, and the updates of an epoch."""
    tokens = len(data.corpora.train)
    settings = data.settings
    parameters = count_parameters(settings.model, data.vocabularies)
    return [
        *_few(tokens, window),
        *vocabulary_findings(settings.text, data.tokenizer.size),
        parameter_finding(parameters, tokens, "tokens"),
        *step_findings(settings.train, per_epoch, tokens if tokens >= FEW_TOKENS else None),
        _validation(data),
    ]


def _few(tokens: int, window: int) -> list[Finding]:
    metrics = {"tokens": tokens, "window": window}
    if tokens <= window:
        sentence = f"The whole text has {tokens:,} tokens, less than a window of {window:,}."
        return [Finding("sizes", "few-tokens", "warning", sentence, (), "add text", metrics=metrics)]
    if tokens < FEW_TOKENS:
        sentence = f"There are only {tokens:,} training tokens, too few for a model that generalizes."
        return [Finding("sizes", "few-tokens", "note", sentence, (), "add text", metrics=metrics)]
    return []


def _validation(data: TextTaskData) -> Finding:
    everything = len(data.corpora.train) + len(data.corpora.valid)
    return validation_finding(
        data.settings.data, data.validated, everything, "tokens", (FEW_VALID, SOME_VALID), more="text"
    )
