"""The section of a translator's card on data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained, source_of
from regard.tasks.translate.records import PairReport


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
