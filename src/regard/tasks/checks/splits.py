"""Checks of sets of pairs for leaks (a test pair in the training set) and duplicates."""

from collections import Counter
from collections.abc import Sequence

from regard.data.sources.pair import Pair
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, graded, percent, shown, shown_pair, some

BOILERPLATE = 50
"""Distinct sources from which on their common target is boilerplate."""


def split_findings(data: TranslationData) -> list[Finding]:
    """Return the pairs that several sets have in common, and those that one has twice."""
    train, valid = data.train, data.valid
    tests = {f"test set {name}": [_stripped(pair) for pair in rows] for name, rows in data.raw.tests.items()}
    leaks = []
    for title, pairs in {"validation set": valid, **tests}.items():
        leaks += _leak("training set", train, title, pairs)
    for title, pairs in tests.items():
        leaks += _leak("validation set", valid, title, pairs)
    if not leaks:
        sentence = f"No source occurs in two of the {2 + len(tests)} sets."
        leaks = [Finding("splits", "leaked-sources", "ok", sentence)]
    repeats = [*_dropped_duplicates(data), *_several_translations(train), *_boilerplate(train)]
    if not data.settings.data.cleaning.drop_duplicates:
        repeats += _duplicates("training set", train, {"data.cleaning.drop_duplicates": True})
    for title, pairs in tests.items():
        repeats += _duplicates(title, pairs, {})
    return leaks + repeats


def _stripped(pair: Pair) -> Pair:
    return Pair(pair.source.strip(), pair.target.strip())


def _leak(origin: str, known: Sequence[Pair], title: str, pairs: Sequence[Pair]) -> list[Finding]:
    """Return the pairs of a set that another set has too, with the same target or another one."""
    all_known, sources = set(known), {pair.source for pair in known}
    same = [(row, pair) for row, pair in enumerate(pairs) if pair in all_known]
    same_source = [(row, pair) for row, pair in enumerate(pairs) if pair.source in sources and pair not in all_known]
    is_training = origin == "training set"
    effect = "so scores on it reward memorization" if is_training else "so it is no independent test"
    remedy = "keep them out of training" if is_training else "take them out of one of the sets"
    settings = {"data.cleaning.drop_held_out": True} if is_training else {}
    findings = []
    for name, leaked, how, bounds in (
        ("leaked-pairs", same, "are also in", (0.005, 0.05)),
        ("leaked-sources", same_source, "have their source, with another translation, in", (0.02, 0.2)),
    ):
        if leaked:
            fraction = len(leaked) / len(pairs)
            findings.append(
                Finding(
                    "splits",
                    name,
                    graded(fraction, 0.0, *bounds),
                    f"{len(leaked):,} of the {len(pairs):,} pairs of the {title} ({percent(fraction, 1)}) {how} the "
                    f"{origin}, {effect}.",
                    some(shown_pair(pair, row) for row, pair in leaked),
                    remedy,
                    settings,
                    {"count": len(leaked), "fraction": fraction},
                )
            )
    return findings


def _dropped_duplicates(data: TranslationData) -> list[Finding]:
    report = data.reports["train"]
    count = report.dropped["duplicate"]
    if not count:
        return []
    sentence = f"{count:,} exact duplicates ({percent(count, report.read)}) were dropped from the training set."
    severity = graded(count / report.read, note=0.0, warning=0.5)
    return [Finding("splits", "duplicates", severity, sentence, metrics={"count": count})]


def _duplicates(title: str, pairs: Sequence[Pair], settings: dict[str, bool]) -> list[Finding]:
    counts = Counter(pairs)
    extra = len(pairs) - len(counts)
    if not extra:
        return []
    return [
        Finding(
            "splits",
            "duplicates",
            graded(extra / len(pairs), note=0.0, warning=0.1),
            f"{extra:,} pairs of the {title} ({percent(extra, len(pairs))}) duplicate another one and count twice.",
            some(f"{count:,} times: {shown_pair(pair)}" for pair, count in counts.most_common(3) if count > 1),
            "drop them" if settings else "take them out of the file",
            settings,
            {"count": extra},
        )
    ]


def _several_translations(pairs: Sequence[Pair]) -> list[Finding]:
    counts = Counter(pair.source for pair in pairs)
    several = {source for source, count in counts.items() if count > 1}
    affected = sum(counts[source] for source in several)
    severity = graded(affected / len(pairs), note=0.05, warning=0.8)
    if severity == "ok":
        return []
    most = max(several, key=lambda source: counts[source])
    return [
        Finding(
            "splits",
            "several-translations",
            severity,
            f"{percent(affected, len(pairs))} of the training pairs have a source with several translations, which "
            f"makes training ambiguous.",
            some(shown_pair(pair) for pair in pairs if pair.source == most),
            metrics={"fraction": affected / len(pairs)},
        )
    ]


def _boilerplate(pairs: Sequence[Pair]) -> list[Finding]:
    """Return the target of many sources: a placeholder, or a damaged file."""
    target, count = Counter(pair.target for pair in pairs).most_common(1)[0]
    sources = len({pair.source for pair in pairs if pair.target == target})
    severity = graded(sources / len(pairs), note=0.002, warning=0.01)
    if sources < BOILERPLATE or severity == "ok":
        return []
    return [
        Finding(
            "splits",
            "one-target-for-many",
            severity,
            f"{shown(target)} is the translation of {sources:,} different training sources "
            f"({percent(sources, len(pairs))}).",
            some(shown_pair(pair) for pair in pairs if pair.target == target),
            "take these pairs out if the text is a placeholder",
            metrics={"count": count, "sources": sources},
        )
    ]
