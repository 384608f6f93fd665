"""The sections of a translator's card on scores and data."""

from collections.abc import Iterable

from regard.escaping import in_markdown
from regard.reporting.markdown import code, codes, table
from regard.tasks.card import CardInput, no_scores, pretrained, source_of
from regard.tasks.evaluation import decoding_words
from regard.tasks.record import ScoreRecord
from regard.tasks.translate.records import PairReport, TranslationPassport


def scores_section(card: CardInput) -> list[str]:
    """Return the scores of every passport, their signatures, and the hashes of the test sets."""
    passports = {name: each for name, each in card.passports.items() if isinstance(each, TranslationPassport)}
    if not passports:
        return no_scores(card.path)
    names = list(dict.fromkeys(score.name for each in passports.values() for score in _scores(each)))
    signatures = {score.name: score.signature for each in passports.values() for score in _scores(each)}
    rows = []
    for name, each in passports.items():
        values = {score.name: f"{score.value:.2f}" for score in _scores(each)}
        is_best = each.checkpoint is not None and each.checkpoint.sha256 == card.best_hash
        rows.append(
            [
                name,
                f"{each.sentences:,}",
                *(values.get(metric, "") for metric in names),
                "-" if each.loss is None else f"{each.loss:.3f}",
                decoding_words(each.decode),
                "best" if is_best else "an earlier checkpoint",
            ]
        )
    hashes = [
        (name, code(each.test_set.sources), codes(each.test_set.references, " ")) for name, each in passports.items()
    ]
    return [
        "## Scores",
        "",
        *table(["set", "sentences", *names, "loss", "decoding", "checkpoint"], rows),
        "",
        *(f"- {in_markdown(metric)}: {code(signatures[metric])}" for metric in names),
        f"- checkpoint: SHA-256 `{card.best_hash}`",
        "",
        'Metrics that begin with "BLEU lowercased" are for comparison with papers that compute it so, and with '
        "nothing else. Each score has a passport in `scores/`, with its hypotheses.",
        "",
        *table(["set", "SHA-256 of the sources", "of the references"], hashes),
    ]


def _scores(passport: TranslationPassport) -> Iterable[ScoreRecord]:
    return [*passport.scores, *passport.paper_scores]


def data_section(card: CardInput) -> list[str]:
    """Return the source of every set, and how many pairs were read, kept and dropped."""
    report, sources = card.record.report, card.record.settings.data
    assert isinstance(report, PairReport)
    rows = []
    for role, counts in {"train": report.train, "valid": report.valid}.items():
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in counts.dropped.items()) or "none"
        held_out = f"{counts.held_out:,} for validation" if counts.held_out else ""
        rows.append([role, source_of(sources, role), f"{counts.read:,}", f"{counts.kept:,}", dropped, held_out])
    rows += [
        [f"test {name}", source_of(sources, f"test {name}"), "", "", "never cleaned", ""] for name in sources["test"]
    ]
    files = [(code(name), code(digest)) for name, digest in report.files.items()]
    return [
        "## Data",
        "",
        *table(["set", "from", "pairs read", "kept", "dropped", "held out"], rows),
        *(["", *table(["file", "SHA-256"], files)] if files else []),
        *pretrained(report),
    ]
