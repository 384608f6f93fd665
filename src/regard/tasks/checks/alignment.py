"""Checks of the pairs themselves: sides of different lines, odd lengths, copies, and what cleaning dropped."""

from collections.abc import Sequence

import numpy as np

from regard.data.cleaning import FORGIVEN, reason_to_drop
from regard.data.sources.pair import Pair
from regard.tasks.checks.association import association
from regard.tasks.checks.line_agreement import LAGS, Agreement, AgreementSpan, Floats, runs
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, Severity, graded, percent, shown, shown_pair, some

ENOUGH = 100
"""Pairs from which on chance can be told from design."""
CHANCE = 0.1
"""Mean evidence in nats under which pairs agree no better than shuffled ones; real corpora have 1 to 2."""
CLEAR = 5.0
QUICK = 20_000
STRETCH = 500
"""When not all lines are looked at, stretches of so many are, spread evenly: a shift shows in a stretch."""
ODD = 6.0
"""Robust standard deviations from the usual length ratio from which on a pair is odd."""
TWICE = np.log(2.0)
LONG_COPY = 15
"""Characters from which on the same text on both sides is no name or number."""


def alignment_findings(data: TranslationData) -> list[Finding]:
    """Return what is odd about the pairs of every set, all of them looked at."""
    return _findings(data, None)


def quick_alignment_findings(data: TranslationData) -> list[Finding]:
    """Return what is odd about the pairs of every set, looking at evenly spread stretches of a long one."""
    return _findings(data, QUICK)


def _findings(data: TranslationData, most: int | None) -> list[Finding]:
    sets = data.raw.sets
    usable = {title: pairs for title, pairs in sets.items() if len(pairs) >= ENOUGH}
    found = [*_dropped(data), *_copies(data.train)]
    if "training set" not in usable:
        return found
    chosen = {title: _stretches(len(pairs), most) for title, pairs in usable.items()}
    agreement = Agreement([sets["training set"][row] for row in chosen["training set"]])
    for title, pairs in usable.items():
        rows = chosen[title]
        evidence = agreement.evidence([pairs[row] for row in rows])
        found += _judge(title, pairs, rows, evidence, data)
    if not any(finding.severity == "problem" for finding in found):  # lines of other pairs have odd lengths, too
        found += _odd_lengths(data.train, data.settings.data.cleaning.max_ratio)
    return found


def _stretches(count: int, most: int | None) -> Sequence[int]:
    """Return the rows to look at: all of them, or stretches of neighbors spread from the first to the last."""
    if most is None or count <= most:
        return range(count)
    begins = np.linspace(0, count - STRETCH, most // STRETCH).astype(int)
    return np.unique((begins[:, None] + np.arange(STRETCH)).ravel()).tolist()


def _judge(
    title: str, pairs: Sequence[Pair], rows: Sequence[int], evidence: Floats, data: TranslationData
) -> list[Finding]:
    """Say whether the sides of a set go together, and where they do not."""
    mean = float(evidence[:, LAGS.index(0)].mean())
    best = float(evidence.mean(0).max())
    figures = {"evidence": mean}
    if best < CHANCE:
        if title != "training set":
            return [] if best > 0 else [_unrelated(title, pairs, figures)]
        if association(data.encoded) < CLEAR:
            return [_unrelated(title, pairs, figures)]
        sentence = "Lengths and shared words tell nothing about the pairs here, but their pieces go together."
        return [Finding("alignment", "unrelated", "ok", sentence, figures=figures)]
    elsewhere = runs(evidence)
    if elsewhere:
        return [_shifted(title, pairs, rows, run) for run in _largest(elsewhere)]
    sentence = f"The sides of the {title} go together: each pair agrees better than shuffled ones would."
    return [Finding("alignment", "shifted", "ok", sentence, figures=figures)]


def _unrelated(title: str, pairs: Sequence[Pair], figures: dict[str, float]) -> Finding:
    return Finding(
        "alignment",
        "unrelated",
        "problem",
        f"The sides of the {title} agree no better than if one were shuffled, neither in length nor in words.",
        some(shown_pair(pair, row) for row, pair in enumerate(pairs)),
        "check that both files are the same text in the same order",
        figures=figures,
    )


def _largest(found: list[AgreementSpan], most: int = 5) -> list[AgreementSpan]:
    return sorted(sorted(found, key=lambda run: run.begin - run.end)[:most], key=lambda run: run.begin)


def _shifted(title: str, pairs: Sequence[Pair], rows: Sequence[int], run: AgreementSpan) -> Finding:
    first, last, count = rows[run.begin], rows[run.end - 1], run.end - run.begin
    severity: Severity = "problem" if count >= 200 or count >= 0.01 * len(rows) else "warning"
    where = f"From about pair {first + 1:,} to {last + 1:,} of the {title}"
    if run.lag is None:
        sentence = f"{where}, the sides do not belong together."
        examples = some(shown_pair(pairs[row], row) for row in rows[run.begin : run.end])
        remedy = "look at these lines, and take them out or mend them"
    else:
        lines = f"{abs(run.lag)} line{'s' if abs(run.lag) > 1 else ''} {'below' if run.lag > 0 else 'above'}"
        sentence = f"{where}, the translation of each source seems to stand {lines} it: one side is shifted."
        middle = [row for row in rows[run.begin : run.end] if 0 <= row + run.lag < len(pairs)]
        middle = middle[len(middle) // 2 :]
        examples = some(
            f"{shown_pair(pairs[row], row)}, but {lines}: {shown(pairs[row + run.lag].target)}" for row in middle
        )
        remedy = f"look for a line too many or too few in one of the files near line {first + 1:,}"
    figures = {"begin": first + 1, "end": last + 1, "lag": float(run.lag or 0)}
    return Finding("alignment", "shifted", severity, sentence, examples, remedy, figures=figures)


def _odd_lengths(pairs: Sequence[Pair], allowed: float) -> list[Finding]:
    """Look for pairs whose length ratio is far from the usual one for sentences of their length."""
    lengths = np.array([(len(pair.source), len(pair.target)) for pair in pairs], dtype=float)
    logs = np.log(lengths + 5.0)  # short sentences have wild ratios
    ratio = logs[:, 1] - logs[:, 0]
    ratio = np.abs(ratio - np.median(ratio))
    order = np.argsort(logs.sum(1))
    spread = np.empty(len(pairs))
    for group in np.array_split(order, 5):
        spread[group] = max(float(np.median(ratio[group])) * 1.48, 0.02)  # as the standard deviation of a normal
    is_odd = (ratio > ODD * spread) & (ratio > TWICE)
    if not is_odd.any():
        return [Finding("alignment", "odd-lengths", "ok", "No training pair has sides of oddly different length.")]
    odd = np.flatnonzero(is_odd)
    share = len(odd) / len(pairs)
    # The cleaning's own measure: where would its line have to be to spare the usual pairs?
    needed = (lengths.max(1) - FORGIVEN) / lengths.min(1)
    limit = float(np.ceil(10 * max(1.5, np.quantile(needed[~is_odd], 0.9995))) / 10)
    severity = graded(share, note=0.0, warning=0.01, problem=0.2)
    helps = severity != "note" and limit < allowed and bool((needed[odd] > limit).any())
    return [
        Finding(
            "alignment",
            "odd-lengths",
            severity,
            f"{len(odd):,} training pairs ({percent(share, 1)}) have sides of oddly different length: one may be "
            f"cut, or hold more than the other.",
            some(shown_pair(pairs[row]) for row in odd[np.argsort(-ratio[odd])]),
            "drop the worst of them" if helps else "look at these pairs",
            {"data.cleaning.max_ratio": limit} if helps else {},
            {"count": len(odd), "share": share},
        )
    ]


def _copies(pairs: Sequence[Pair]) -> list[Finding]:
    """Look for sentences that were never translated; names and numbers may well be the same in both languages."""
    copies = [
        (row, pair)
        for row, pair in enumerate(pairs)
        if len(pair.source) >= LONG_COPY and pair.source.casefold() == pair.target.casefold()
    ]
    if not copies:
        return []
    share = len(copies) / len(pairs)
    return [
        Finding(
            "alignment",
            "copies",
            graded(share, note=0.0, warning=0.005, problem=0.2),
            f"{len(copies):,} training pairs ({percent(share, 1)}) have the same text on both sides; untranslated "
            f"text teaches a model to copy.",
            some(shown_pair(pair) for _, pair in copies),
            "drop them",
            {"data.cleaning.drop_copies": True},
            {"count": len(copies), "share": share},
        )
    ]


def _dropped(data: TranslationData) -> list[Finding]:
    """Say what cleaning took from the training set, where it took much."""
    report, cleaning = data.reports["train"], data.settings.data.cleaning
    found = []
    for reason, remedy, settings in (
        ("empty", "check the file for lines that were lost", {}),
        ("absurd length ratio", "if they are sound, allow them", {"data.cleaning.max_ratio": cleaning.max_ratio * 2}),
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
            found.append(
                Finding(
                    "alignment", name, severity, sentence, examples, remedy, settings, {"share": count / report.read}
                )
            )
    return found
