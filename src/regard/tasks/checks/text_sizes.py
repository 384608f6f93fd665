"""Checks of sizes against each other, for models of running text."""

from regard.tasks.checks.sizes import parameter_finding, step_findings, vocabulary_findings, watched_finding
from regard.tasks.findings import Finding
from regard.tasks.translate.data import TextTaskData

FEW_TOKENS = 100_000
FEW_WATCHED, SOME_WATCHED = 2_000, 10_000
"""Tokens under which the loss of a validation text is partly chance."""


def text_size_findings(material: TextTaskData) -> list[Finding]:
    """Return which sizes do not fit each other."""
    tokens = len(material.corpora.train)
    settings = material.settings
    parameters = sum(parameter.numel() for parameter in material.bundle.model.parameters())
    return [
        *_few(material, tokens),
        *vocabulary_findings(settings.text, material.tokenizer.size),
        parameter_finding(parameters, tokens, "tokens"),
        *step_findings(settings.train, material.per_epoch, tokens if tokens >= FEW_TOKENS else None),
        _validation(material),
    ]


def _few(material: TextTaskData, tokens: int) -> list[Finding]:
    figures = {"tokens": tokens, "window": material.window}
    if tokens <= material.window:
        sentence = f"The whole text has {tokens:,} tokens, less than a window of {material.window:,}."
        return [Finding("sizes", "few-tokens", "warning", sentence, (), "add text", figures=figures)]
    if tokens < FEW_TOKENS:
        sentence = f"There are only {tokens:,} tokens to learn from, too few for more than their own words."
        return [Finding("sizes", "few-tokens", "note", sentence, (), "add text", figures=figures)]
    return []


def _validation(material: TextTaskData) -> Finding:
    watched = min(len(material.corpora.valid), material.settings.validation.tokens)
    everything = len(material.corpora.train) + len(material.corpora.valid)
    return watched_finding(
        material.settings.data, watched, everything, "tokens", (FEW_WATCHED, SOME_WATCHED), more="text"
    )
