"""Checks between and inside the sets: sentences that leak into a test, and sentences that occur twice."""

from collections import Counter
from collections.abc import Sequence

from regard.data.sources.pair import Pair
from regard.tasks.data import TranslationData
from regard.tasks.findings import Finding, graded, percent, shown, shown_pair, some

BOILERPLATE = 50
"""Times a target must occur before it can be called boilerplate."""


def split_findings(data: TranslationData) -> list[Finding]:
    """Return what the sets have in common, and what they hold more than once."""
    train, valid = data.train, data.valid
    tests = {f"test set {name}": [_stripped(pair) for pair in it] for name, it in data.raw.tests.items()}
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
    """Look for pairs of a set that the other set has, too, whole or by their source alone."""
    whole, sources = set(known), {pair.source for pair in known}
    same = [(row, pair) for row, pair in enumerate(pairs) if pair in whole]
    half = [(row, pair) for row, pair in enumerate(pairs) if pair.source in sources and pair not in whole]
    is_training = origin == "training set"
    effect = "so scores on it reward memory" if is_training else "so it is no independent test"
    remedy = "keep them out of training" if is_training else "take them out of one of the sets"
    settings = {"data.cleaning.drop_held_out": True} if is_training else {}
    found = []
    for name, leaked, how, bounds in (
        ("leaked-pairs", same, "are also in", (0.005, 0.05)),
        ("leaked-sources", half, "have their source, with another translation, in", (0.02, 0.2)),
    ):
        if leaked:
            share = len(leaked) / len(pairs)
            found.append(
                Finding(
                    "splits",
                    name,
                    graded(share, 0.0, *bounds),
                    f"{len(leaked):,} of the {len(pairs):,} pairs of the {title} ({percent(share, 1)}) {how} the "
                    f"{origin}, {effect}.",
                    some(shown_pair(pair, row) for row, pair in leaked),
                    remedy,
                    settings,
                    {"count": len(leaked), "share": share},
                )
            )
    return found


def _dropped_duplicates(data: TranslationData) -> list[Finding]:
    report = data.reports["train"]
    count = report.dropped["duplicate"]
    if not count:
        return []
    sentence = f"{count:,} exact duplicates ({percent(count, report.read)}) were dropped from the training set."
    severity = graded(count / report.read, note=0.0, warning=0.5)
    return [Finding("splits", "duplicates", severity, sentence, figures={"count": count})]


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
            f"{extra:,} pairs of the {title} ({percent(extra, len(pairs))}) repeat another one and count again.",
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
            f"{percent(affected, len(pairs))} of the training pairs have a source with several translations, which a "
            f"model can only average.",
            some(shown_pair(pair) for pair in pairs if pair.source == most),
            figures={"share": affected / len(pairs)},
        )
    ]


def _boilerplate(pairs: Sequence[Pair]) -> list[Finding]:
    """Look for one target that stands beside many sources: a placeholder, or a file that went wrong."""
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
            figures={"count": count, "sources": sources},
        )
    ]
