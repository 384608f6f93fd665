"""Checks of sizes against each other, for models of running text."""

from regard.studies.doctor.findings import Finding
from regard.studies.doctor.sizes import parameter_finding, step_findings, vocabulary_findings
from regard.studies.material import TextMaterial

FEW_TOKENS = 100_000
FEW_WATCHED, SOME_WATCHED = 2_000, 10_000
"""Tokens under which the loss of a validation text is partly chance."""


def text_size_findings(material: TextMaterial) -> list[Finding]:
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


def _few(material: TextMaterial, tokens: int) -> list[Finding]:
    figures = {"tokens": tokens, "window": material.window}
    if tokens <= material.window:
        sentence = f"The whole text has {tokens:,} tokens, less than a window of {material.window:,}."
        return [Finding("sizes", "few-tokens", "warning", sentence, (), "add text", figures=figures)]
    if tokens < FEW_TOKENS:
        sentence = f"There are only {tokens:,} tokens to learn from, too few for more than their own words."
        return [Finding("sizes", "few-tokens", "note", sentence, (), "add text", figures=figures)]
    return []


def _validation(material: TextMaterial) -> Finding:
    watched = min(len(material.corpora.valid), material.settings.validation.tokens)
    severity = "ok" if watched >= SOME_WATCHED else "note" if watched >= FEW_WATCHED else "warning"
    figures = {"tokens": watched}
    if severity == "ok":
        sentence = f"{watched:,} tokens are watched while training."
        return Finding("sizes", "validation", "ok", sentence, figures=figures)
    data = material.settings.data
    everything = len(material.corpora.train) + len(material.corpora.valid)
    share = round(min(0.2, SOME_WATCHED / everything), 3)
    can_carve = data.valid is None and share > data.valid_share
    return Finding(
        "sizes",
        "validation",
        severity,  # type: ignore[arg-type]
        f"Only {watched:,} tokens are watched while training: which checkpoint is best is partly chance.",
        (),
        "set more apart" if can_carve else "watch more text",
        {"data.valid_share": share} if can_carve else {},
        figures,
    )
