"""What is said about a run when it ends, or before it begins."""

import sys
from itertools import islice
from typing import Any

from regard.cli.console import duration, errors, print_json, print_line, print_table
from regard.cli.verbs.vectors_study import print_vector_scores
from regard.runs.planning.plan import LabelPlan, Plan, TextPlan, WordPlan
from regard.runs.scores.compare import Comparison
from regard.runs.scores.passport import decoding_words
from regard.runs.store.folder import Run


def print_run(run: Run, as_json: bool) -> None:
    """Say how a run ended; one that was interrupted leaves with exit code 130."""
    record = run.record
    if as_json:
        kept = ("state", "steps", "best_step", "seconds", "waited", "parameters", "data", "scores")
        print_json({"run": str(run.path)} | {key: record[key] for key in kept if key in record})
    elif record["state"] == "interrupted":
        errors().print(
            f"Stopped at step {record['steps']:,}; everything is saved.\nGo on: regard train --resume {run.path}",
            markup=False,
            soft_wrap=True,
        )
    else:
        steps = f"{record['steps']:,} step{'' if record['steps'] == 1 else 's'}"
        print_line(
            f"{run.path}: {record['state']} after {steps} and {duration(record['seconds'])} of training, best at "
            f"step {record['best_step']:,}; {record['parameters']:,} parameters."
        )
        if record.get("scores"):
            PRINTERS[record["task"]](record["scores"])
        verb, words = USES[record["task"]]
        if record["task"] in ("classify", "regress") and record["data"]["texts"] == 2:
            words = "TEXT TEXT"
        print_line(f"Use it: regard {verb} {run.path} {words}")
    if record["state"] == "interrupted":
        sys.exit(130)


def print_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print one row a test set, and under the table how the scores were computed."""
    rows = []
    for name, found in scores.items():
        values = {score["name"]: f"{score['value']:.2f}" for score in found["scores"]}
        forms = {"loss": ".3f", "perplexity": ".2f", "sentences_per_second": ".0f"}
        figures = ("-" if found[each] is None else format(found[each], form) for each, form in forms.items())
        rows.append((name, f"{found['sentences']:,}", values["BLEU"], values["chrF"], values["TER"], *figures))
    header = ("set", "sentences", "BLEU", "chrF", "TER", "loss", "perplexity", "sentences/s")
    print_table(header, rows, right=range(1, 8))
    first = next(iter(scores.values()))
    for score in first["scores"]:
        print_line(f"{score['name']}: {score['signature']}")
    for score in first.get("paper_scores", ()):
        each = ", ".join(
            f"{name} {other['value']:.2f}"
            for name, found in scores.items()
            for other in found.get("paper_scores", ())
            if other["name"] == score["name"]
        )
        print_line(f"for papers only, {score['name']}: {each} ({score['signature']})")
    print_line(f"decoding: {decoding_words(first['decode'])}")


def print_text_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print one row a text, and under the table how it was read."""
    forms = {"loss": ".4f", "perplexity": ".2f", "bits_per_byte": ".4f", "word_perplexity": ".2f"}
    rows = [
        (name, f"{found['tokens']:,}", *(format(found[each], form) for each, form in forms.items()))
        for name, found in scores.items()
    ]
    header = ("set", "tokens", "loss", "perplexity", "bits/byte", "word perplexity")
    print_table(header, rows, right=range(1, 6))
    for found in islice(scores.values(), 1):
        print_line(f"read in windows of {found['window']:,} tokens, stride {found['stride']:,}")


def print_masked_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print one row a text, and under the table how its words were masked."""
    forms = {
        "mlm_loss": ".4f",
        "pseudo_perplexity": ".2f",
        "masked_accuracy": ".4f",
        "majority_baseline": ".4f",
        "next_sentence_accuracy": ".4f",
    }
    rows = [
        (
            name,
            f"{found['masked']:,}",
            *("-" if found[each] is None else format(found[each], form) for each, form in forms.items()),
        )
        for name, found in scores.items()
    ]
    header = ("set", "masked tokens", "loss", "pseudo-perplexity", "accuracy", "majority baseline", "next sentence")
    print_table(header, rows, right=range(1, 7))
    for found in islice(scores.values(), 1):
        print_line(f"masked: {found['rule']}")


SHOWN = {
    "f1": "F1",
    "exact_match": "exact match",
    "precision": "precision",
    "recall": "recall",
    "spearman": "Spearman",
    "pearson": "Pearson",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "matthews": "Matthews",
    "majority_baseline": "majority baseline",
}
"""Figures of models that were fine-tuned, in the order they are shown."""


def print_label_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print one row a set with the intervals of its figures, and under the table each label of the first set."""
    names = [name for name in SHOWN if any(name in found for found in scores.values())]
    rows = [
        (name, f"{found['examples']:,}", f"{found['loss']:.4f}", *(_figure(found, each) for each in names))
        for name, found in scores.items()
    ]
    header = ("set", "examples", "loss", *(SHOWN[name] for name in names))
    print_table(header, rows, right=range(1, len(header)))
    print_line("In brackets: 95 % intervals by bootstrap over the set.")
    mix = next(iter(scores.values())).get("mix")
    if mix:
        words = ", ".join(f"{name} {value:.3f}" for name, value in mix.items())
        print_line(f"learned weights of the layers: {words}")
    for name, found in islice(scores.items(), 1):
        classes = [
            (
                each["label"],
                f"{each['count']:,}",
                *(f"{each[figure]:.4f}" for figure in ("precision", "recall", "f1")),
            )
            for each in found.get("classes", ())
        ]
        if classes:
            print_line(f"\n{name} by label:")
            print_table(("label", "examples", "precision", "recall", "F1"), classes, right=range(1, 5))


def _figure(found: dict[str, Any], name: str) -> str:
    if name not in found:
        return "-"
    interval = found["intervals"].get(name)
    return f"{found[name]:.4f}" + (f" [{interval[0]:.4f}, {interval[1]:.4f}]" if interval else "")


def print_elmo_scores(scores: dict[str, dict[str, Any]]) -> None:
    """Print one row a text, and under the table how it was read."""
    rows = [
        (
            name,
            f"{found['words']:,}",
            f"{found['oov_fraction']:.4f}",
            *(f"{found[f'{side}_loss']:.4f}" for side in ("forward", "backward")),
            *(f"{found[f'{side}_perplexity']:.2f}" for side in ("forward", "backward")),
        )
        for name, found in scores.items()
    ]
    header = ("set", "words", "unknown", "loss forward", "backward", "perplexity forward", "backward")
    print_table(header, rows, right=range(1, 7))
    for found in islice(scores.values(), 1):
        print_line(f"{found['vocabulary']:,} words can be said; read in windows of about {found['window']:,} words")


PRINTERS = {
    **dict.fromkeys(("answer", "choose", "classify", "regress", "tag"), print_label_scores),
    "elmo": print_elmo_scores,
    "language-model": print_text_scores,
    "masked-language-model": print_masked_scores,
    "translate": print_scores,
    "vectors": lambda scores: print_vector_scores(scores.get("analogies"), scores.get("similarities", [])),
}
USES = {
    "answer": ("answer", "QUESTION TEXT"),
    "choose": ("choose", "CONTEXT CHOICE CHOICE"),
    "classify": ("classify", "TEXT"),
    "regress": ("regress", "TEXT"),
    "tag": ("tag", "TEXT"),
    "elmo": ("embed", "TEXT --tokens"),
    "language-model": ("generate", "TEXT"),
    "masked-language-model": ("fill", '"A text with a [MASK] in it."'),
    "translate": ("translate", "TEXT"),
    "vectors": ("vectors neighbors", "WORD"),
}


def print_comparison(found: Comparison) -> None:
    """Print two systems side by side, and under the table what it means."""
    print_line()
    print_line(f"{found.set}: {found.first} against {found.second}")
    rows = [
        (
            each.name,
            _with_interval(each.first, each.first_interval),
            _with_interval(each.second, each.second_interval),
            _with_interval(each.value, each.interval),
            f"{each.p:.4f}",
        )
        for each in found.differences
    ]
    print_table(("metric", "first [95 %]", "second [95 %]", "difference [95 %]", "p"), rows, right=range(1, 5))
    for sentence in found.words():
        print_line(sentence)
    print_line(f"Paired bootstrap, two-sided, {found.resamples:,} resamples, seed {found.seed}.")


def _with_interval(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def print_plan(plan: Plan | TextPlan | LabelPlan | WordPlan, as_json: bool) -> None:
    """Say what a run would do."""
    if as_json:
        print_json(plan)
        return
    print_table(("what", "value"), [(name.replace("_", " "), _shown(value)) for name, value in vars(plan).items()])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items()) or "none"
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)
