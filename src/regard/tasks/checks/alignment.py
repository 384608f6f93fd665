"""Checks of sentence pairs: misaligned lines, suspicious length ratios, copies, and pairs dropped by cleaning."""

from collections.abc import Sequence

import numpy as np

from regard.data.cleaning import FORGIVEN, reason_to_drop
from regard.data.sources.pair import Pair
from regard.tasks.checks.association import association
from regard.tasks.checks.line_agreement import LAGS, Agreement, AgreementSpan, Floats, misaligned_spans
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, Severity, graded, percent, shown, shown_pair, some

ENOUGH = 100
"""Pairs from which on alignment can be tested."""
UNRELATED = 0.1
"""Mean evidence in nats below which pairs agree no better than shuffled ones; real corpora have 1 to 2."""
CLEAR = 5.0
"""Standard errors of the association of tokens above which pairs are translations."""
QUICK = 20_000
"""Maximum number of pairs of a set in the quick check."""
STRETCH = 500
"""Lines of each stretch of the quick check: a shift shows in neighboring lines."""
SUSPICIOUS = 6.0
"""Robust standard deviations from the median length ratio above which a pair is suspicious."""
TWICE = np.log(2.0)
LONG_COPY = 15
"""Characters from which on equal sides are a copy, and no name or number."""


def alignment_findings(data: TranslationData) -> list[Finding]:
    """Return the findings on all pairs of every set."""
    return _findings(data, None)


def quick_alignment_findings(data: TranslationData) -> list[Finding]:
    """Return the findings on the pairs of every set, on evenly spread stretches of a long one."""
    return _findings(data, QUICK)


def _findings(data: TranslationData, most: int | None) -> list[Finding]:
    sets = data.raw.sets
    usable = {title: pairs for title, pairs in sets.items() if len(pairs) >= ENOUGH}
    findings = [*_dropped(data), *_copies(data.train)]
    if "training set" not in usable:
        return findings
    chosen = {title: _stretches(len(pairs), most) for title, pairs in usable.items()}
    agreement = Agreement([sets["training set"][row] for row in chosen["training set"]])
    for title, pairs in usable.items():
        rows = chosen[title]
        evidence = agreement.evidence([pairs[row] for row in rows])
        findings += _alignment(title, pairs, rows, evidence, data)
    if not any(finding.severity == "problem" for finding in findings):  # misaligned lines have suspicious lengths too
        findings += _suspicious_lengths(data.train, data.settings.data.cleaning.max_ratio)
    return findings


def _stretches(count: int, most: int | None) -> Sequence[int]:
    """Return the rows to check: all of them, or evenly spread stretches of neighboring rows."""
    if most is None or count <= most:
        return range(count)
    begins = np.linspace(0, count - STRETCH, most // STRETCH).astype(int)
    return np.unique((begins[:, None] + np.arange(STRETCH)).ravel()).tolist()


def _alignment(
    title: str, pairs: Sequence[Pair], rows: Sequence[int], evidence: Floats, data: TranslationData
) -> list[Finding]:
    """Return the findings on the alignment of a set: sound, unrelated, or the largest misaligned spans."""
    mean = float(evidence[:, LAGS.index(0)].mean())
    best = float(evidence.mean(0).max())
    metrics = {"evidence": mean}
    if best < UNRELATED:
        if title != "training set":
            return [] if best > 0 else [_unrelated(title, pairs, metrics)]
        if association(data.encoded) < CLEAR:
            return [_unrelated(title, pairs, metrics)]
        sentence = "Lengths and shared words show no alignment here, but the tokens of the pairs are associated."
        return [Finding("alignment", "unrelated", "ok", sentence, metrics=metrics)]
    if spans := misaligned_spans(evidence):
        return [_shifted(title, pairs, rows, span) for span in _largest(spans)]
    sentence = f"The sides of the {title} are aligned: pairs agree better than shuffled ones."
    return [Finding("alignment", "shifted", "ok", sentence, metrics=metrics)]


def _unrelated(title: str, pairs: Sequence[Pair], metrics: dict[str, float]) -> Finding:
    return Finding(
        "alignment",
        "unrelated",
        "problem",
        f"The sides of the {title} agree no better than if one were shuffled, neither in length nor in words.",
        some(shown_pair(pair, row) for row, pair in enumerate(pairs)),
        "check that both files are the same text in the same order",
        metrics=metrics,
    )


def _largest(spans: list[AgreementSpan], most: int = 5) -> list[AgreementSpan]:
    return sorted(sorted(spans, key=lambda span: span.begin - span.end)[:most], key=lambda span: span.begin)


def _shifted(title: str, pairs: Sequence[Pair], rows: Sequence[int], span: AgreementSpan) -> Finding:
    first, last, count = rows[span.begin], rows[span.end - 1], span.end - span.begin
    severity: Severity = "problem" if count >= 200 or count >= 0.01 * len(rows) else "warning"
    where = f"From about pair {first + 1:,} to {last + 1:,} of the {title}"
    if span.lag is None:
        sentence = f"{where}, the sides do not belong together."
        examples = some(shown_pair(pairs[row], row) for row in rows[span.begin : span.end])
        remedy = "remove or repair these lines"
    else:
        lines = f"{abs(span.lag)} line{'s' if abs(span.lag) > 1 else ''} {'below' if span.lag > 0 else 'above'}"
        sentence = f"{where}, the translation of each source seems to be {lines} it: one side is shifted."
        middle = [row for row in rows[span.begin : span.end] if 0 <= row + span.lag < len(pairs)]
        middle = middle[len(middle) // 2 :]
        examples = some(
            f"{shown_pair(pairs[row], row)}, but {lines}: {shown(pairs[row + span.lag].target)}" for row in middle
        )
        remedy = f"look for an extra or missing line in one of the files near line {first + 1:,}"
    metrics = {"begin": first + 1, "end": last + 1, "lag": float(span.lag or 0)}
    return Finding("alignment", "shifted", severity, sentence, examples, remedy, metrics=metrics)


def _suspicious_lengths(pairs: Sequence[Pair], max_ratio: float) -> list[Finding]:
    """Return the pairs whose length ratio is an outlier among sentences of their length."""
    lengths = np.array([(len(pair.source), len(pair.target)) for pair in pairs], dtype=float)
    logs = np.log(lengths + 5.0)  # short sentences have wild ratios
    ratio = logs[:, 1] - logs[:, 0]
    ratio = np.abs(ratio - np.median(ratio))
    order = np.argsort(logs.sum(1))
    spread = np.empty(len(pairs))
    for group in np.array_split(order, 5):
        spread[group] = max(float(np.median(ratio[group])) * 1.48, 0.02)  # as the standard deviation of a normal
    is_outlier = (ratio > SUSPICIOUS * spread) & (ratio > TWICE)
    if not is_outlier.any():
        return [Finding("alignment", "suspicious-lengths", "ok", "No training pair has a suspicious length ratio.")]
    outliers = np.flatnonzero(is_outlier)
    fraction = len(outliers) / len(pairs)
    # The limit of cleaning (max_ratio) that would drop outliers alone.
    needed = (lengths.max(1) - FORGIVEN) / lengths.min(1)
    limit = float(np.ceil(10 * max(1.5, np.quantile(needed[~is_outlier], 0.9995))) / 10)
    severity = graded(fraction, note=0.0, warning=0.01, problem=0.2)
    helps = severity != "note" and limit < max_ratio and bool((needed[outliers] > limit).any())
    return [
        Finding(
            "alignment",
            "suspicious-lengths",
            severity,
            f"{len(outliers):,} training pairs ({percent(fraction, 1)}) have a suspicious length ratio: one side may "
            f"be cut, or have text that the other lacks.",
            some(shown_pair(pairs[row]) for row in outliers[np.argsort(-ratio[outliers])]),
            "drop the worst of them" if helps else "review these pairs",
            {"data.cleaning.max_ratio": limit} if helps else {},
            {"count": len(outliers), "fraction": fraction},
        )
    ]


def _copies(pairs: Sequence[Pair]) -> list[Finding]:
    """Return the sentences that were never translated; names and numbers may be equal in both languages."""
    copies = [
        (row, pair)
        for row, pair in enumerate(pairs)
        if len(pair.source) >= LONG_COPY and pair.source.casefold() == pair.target.casefold()
    ]
    if not copies:
        return []
    fraction = len(copies) / len(pairs)
    return [
        Finding(
            "alignment",
            "copies",
            graded(fraction, note=0.0, warning=0.005, problem=0.2),
            f"{len(copies):,} training pairs ({percent(fraction, 1)}) have the same text on both sides; a model "
            f"trained on untranslated text learns to copy.",
            some(shown_pair(pair) for _, pair in copies),
            "drop them",
            {"data.cleaning.drop_copies": True},
            {"count": len(copies), "fraction": fraction},
        )
    ]


def _dropped(data: TranslationData) -> list[Finding]:
    """Return the reasons for which cleaning dropped many training pairs."""
    report, cleaning = data.reports["train"], data.settings.data.cleaning
    findings = []
    for reason, remedy, settings in (
        ("empty", "check the file for missing lines", {}),
        (
            "absurd length ratio",
            "raise the limit if these pairs are correct",
            {"data.cleaning.max_ratio": cleaning.max_ratio * 2},
        ),
    ):
        count = report.dropped[reason]
        severity = graded(count / report.read, note=0.001, warning=0.05, problem=0.5)
        if severity != "ok":
            sentence = f"{count:,} training pairs ({percent(count, report.read)}) were dropped: {reason}."
            examples = some(
                shown_pair(pair, row)
                for row, pair in enumerate(data.raw.train)
                if reason_to_drop(Pair(pair.source.strip(), pair.target.strip()), cleaning) == reason
            )
            name = "dropped-" + reason.replace(" ", "-")
            findings.append(
                Finding(
                    "alignment",
                    name,
                    severity,
                    sentence,
                    examples,
                    remedy,
                    settings,
                    {"fraction": count / report.read},
                )
            )
    return findings
