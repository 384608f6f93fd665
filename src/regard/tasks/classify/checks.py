"""Checks of labeled texts before training: copies of training texts in other sets, and lists of labels."""

from collections.abc import Iterator, Sequence

from regard.data.sources.labeled import LabeledRow
from regard.tasks.declarations import Check
from regard.tasks.findings import Finding, graded, percent, shown, some
from regard.tasks.finetune.data import ExampleSets


def classify_checks() -> Sequence[Check]:
    """Return the checks of labeled texts."""
    return (
        Check("splits", lambda sets: list(leaked_texts(sets)), lambda sets: []),
        Check("labels", lambda sets: list(label_findings(sets)), lambda sets: list(label_findings(sets))),
    )


def leaked_texts(sets: ExampleSets) -> Iterator[Finding]:
    """Yield which texts of the other sets are training texts too."""
    known = {each.texts for each in sets.train}
    for name, rows in sets.sets.items():
        leaked = [each for each in rows if each.texts in known] if name != "train" else []
        if leaked:
            fraction = len(leaked) / len(rows)
            yield Finding(
                "splits",
                "leaked-texts",
                graded(fraction, 0, 0.01, 0.5),
                f"{len(leaked):,} of the {len(rows):,} texts of {name} are training texts too, so its scores are "
                f"better than those of new texts",
                some(shown(" / ".join(each.texts)) for each in leaked),
                "leave them out of the training set",
                metrics={"fraction": fraction},
            )


def label_findings(sets: ExampleSets) -> Iterator[Finding]:
    """Yield what is suspicious about lists of labels; nothing where each text has one label."""
    train: list[LabeledRow] = sets.train
    if any(each.labels is None for each in train):
        return
    sizes = [len(each.labels or ()) for each in train]
    if set(sizes) == {1}:
        yield Finding(
            "labels",
            "one-label",
            "warning",
            "every training example has exactly one label, which a multi-label model does not use",
            remedy="give each row its label alone (problem_type=single_label_classification)",
        )
    unseen = [label for label in sets.labels if not sets.reports["valid"].labels[label]]
    if unseen:
        yield Finding(
            "labels",
            "unvalidated-labels",
            "note",
            f"{len(unseen):,} of {len(sets.labels):,} labels do not occur in the validation set",
            some(unseen),
            "raise data.valid_fraction, or give a validation set with every label",
        )
    none = sizes.count(0)
    yield Finding(
        "labels",
        "unlabeled-texts",
        graded(none / len(sizes), 0.5, 0.9),
        f"{percent(none, len(sizes))} of the training examples have no label, and the others "
        f"{sum(sizes) / max(1, len(sizes) - none):.1f} on average",
        metrics={"fraction": none / len(sizes)},
    )
